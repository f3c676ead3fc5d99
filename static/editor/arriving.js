// For the admin's pages without an editor: its login page is where one comes to instead of an answer.

import { markLost, settle } from "./drafts.js";

if (!document.getElementById("logout-form")) markLost();
else if (!document.querySelector("textarea[data-editor]")) settle();
