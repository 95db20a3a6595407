/**
 * Runs before the first paint, as a script of its own (first/plugin.ts): sets the theme, and requests the session while the other scripts
 * load.
 */

import { requestSession } from '../session/session-request.ts';
import { applyTheme, chosenTheme } from '../shell/theme.ts';

applyTheme(chosenTheme());
requestSession();
