/**
 * Runs before the first paint, as a script of its own (first-page.ts): sets the theme, and requests the session and the first list while the other
 * scripts load.
 */

import { applyTheme, chosenTheme } from '../shell/theme.ts';
import { beginEarlyRequests } from './early-requests.ts';

applyTheme(chosenTheme());
beginEarlyRequests();
