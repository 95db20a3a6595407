import Type from 'typebox';
import { LONGEST_SENTENCES, orNull, text } from './message-values.ts';
import {
  LONGEST_WORDPRESS_TEXT,
  MOST_ADMINISTRATORS,
  MOST_HEALTH_ISSUES,
  MOST_PLUGINS,
  MOST_THEMES,
  PLUGIN_FILE,
  PLUGIN_STATUSES,
  THEME_STATUSES,
  THEME_STYLESHEET,
} from './wordpress.ts';

// Schemas of what a host reads of a WordPress (contract/wordpress.ts). Bounded, because the website or the host may be compromised.

const reason = text(LONGEST_SENTENCES);
const shortText = text(LONGEST_WORDPRESS_TEXT);
const amount = Type.Integer({ minimum: 0, maximum: 100_000 });
const update = orNull(Type.Object({ version: shortText }));

export const pluginFile = Type.String({ maxLength: LONGEST_WORDPRESS_TEXT, pattern: PLUGIN_FILE });
export const themeStylesheet = Type.String({ maxLength: LONGEST_WORDPRESS_TEXT, pattern: THEME_STYLESHEET });
export const wordpressMark = Type.String({ pattern: '^[0-9a-f]{32}$' });

export const wordpressReading = Type.Object({
  core: Type.Object({ version: shortText, update }),
  plugins: Type.Array(
    Type.Object({
      file: pluginFile,
      name: shortText,
      version: orNull(shortText),
      status: Type.Enum([...PLUGIN_STATUSES]),
      update,
      autoUpdate: Type.Boolean(),
    }),
    { maxItems: MOST_PLUGINS },
  ),
  themes: Type.Array(
    Type.Object({
      stylesheet: themeStylesheet,
      name: shortText,
      version: orNull(shortText),
      status: Type.Enum([...THEME_STATUSES]),
      parent: orNull(shortText),
      bundled: Type.Boolean(),
      update,
      autoUpdate: Type.Boolean(),
    }),
    { maxItems: MOST_THEMES },
  ),
  administrators: Type.Array(
    Type.Object({
      login: shortText,
      email: orNull(shortText),
      displayName: shortText,
      registeredAt: orNull(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' })),
    }),
    { maxItems: MOST_ADMINISTRATORS },
  ),
  siteHealth: orNull(
    Type.Object({
      good: amount,
      recommended: amount,
      critical: amount,
      issues: Type.Array(
        Type.Object({ label: shortText, severity: Type.Enum(['recommended', 'critical']) }),
        { maxItems: MOST_HEALTH_ISSUES },
      ),
    }),
  ),
  multisite: Type.Boolean(),
  isComplete: Type.Boolean(),
  updateCheck: orNull(Type.Object({ core: orNull(reason), plugins: orNull(reason), themes: orNull(reason) })),
  mark: wordpressMark,
});

export const wordpressUnread = Type.Object({
  refused: Type.Literal('website'),
  reason,
  mark: orNull(wordpressMark),
});
