// For the admin's login page, which has no other module.

import { markLost } from "./drafts.js";

markLost();
