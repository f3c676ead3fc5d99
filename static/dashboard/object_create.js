// Making objects: the editor, with faults in place.

import "../editor/editor.js";

export function start() {}
