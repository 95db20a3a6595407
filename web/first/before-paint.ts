/**
 * Runs before the first paint, as a script of its own (first-page.ts): sets the theme, and requests the session and the first list while the other
 * scripts load.
 */

import { beginEarlyRequests } from '../api/early-requests.ts';
import { applyTheme, chosenTheme } from '../shell/theme.ts';

applyTheme(chosenTheme());
beginEarlyRequests();
