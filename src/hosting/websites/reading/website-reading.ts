import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import {
  MOST_ADMINISTRATORS,
  MOST_HEALTH_ISSUES,
  MOST_PLUGINS,
  MOST_THEMES,
  PLUGIN_FILE,
  PLUGIN_STATUSES,
  type SiteHealth,
  THEME_STATUSES,
  THEME_STYLESHEET,
  type UpdateCheck,
  type WordPressReading,
} from '../../contract/wordpress.ts';
import { cleanText } from '../../wordpress/website-text.ts';

/** Begins the line of our scripts in the output of a website, which may print others. */
const LINE = 'homeport:';

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const text = Type.String();
const version = orNull(text);
const count = Type.Integer({ minimum: 0, maximum: 100_000 });

const PrintedHealth = Type.Object({
  good: count,
  recommended: count,
  critical: count,
  issues: Type.Array(Type.Object({ label: text, severity: Type.Enum(['recommended', 'critical']) })),
});

const PrintedWebsite = Type.Object({
  core: Type.Object({ version: text, update: version }),
  plugins: Type.Array(
    Type.Object({
      file: text,
      name: text,
      version,
      status: Type.Enum([...PLUGIN_STATUSES]),
      update: version,
      autoUpdate: Type.Boolean(),
    }),
  ),
  themes: Type.Array(
    Type.Object({
      stylesheet: text,
      name: text,
      version,
      status: Type.Enum([...THEME_STATUSES]),
      parent: orNull(text),
      bundled: Type.Boolean(),
      update: version,
      autoUpdate: Type.Boolean(),
    }),
  ),
  administrators: Type.Array(
    Type.Object({ login: text, email: orNull(text), displayName: text, registeredAt: text }),
  ),
  siteHealth: orNull(PrintedHealth),
  multisite: Type.Boolean(),
  isComplete: Type.Boolean(),
  updatesKnown: Type.Object({ core: Type.Boolean(), plugins: Type.Boolean(), themes: Type.Boolean() }),
});

const shown = Type.Array(Type.Object({ of: text, version: text }));
const PrintedCheck = Type.Object({
  updateCheck: orNull(Type.Object({ core: orNull(text), plugins: orNull(text), themes: orNull(text) })),
  shownPlugins: shown,
  shownThemes: shown,
  siteHealth: orNull(PrintedHealth),
});

/** What read-website.php prints. */
export type PrintedWebsite = Static<typeof PrintedWebsite>;
/** What check-website.php prints. */
export type PrintedCheck = Static<typeof PrintedCheck>;

export const parseWebsite = (output: string) => parseLine(PrintedWebsite, output);
export const parseCheck = (output: string) => parseLine(PrintedCheck, output);

function parseLine<Schema extends TSchema>(schema: Schema, output: string): Static<Schema> | null {
  const line = output.split('\n').findLast((one) => one.startsWith(LINE));
  try {
    const value: unknown = JSON.parse(line?.slice(LINE.length) ?? '');
    return Value.Check(schema, value) ? value : null;
  } catch {
    return null;
  }
}

/** Puts together what the scripts printed, as bounded and clean text. `check`: null if it failed. */
export function readingOf(
  website: PrintedWebsite,
  check: PrintedCheck | null,
  { isAsked, mark }: { isAsked: boolean; mark: string },
): WordPressReading {
  const plugins = website.plugins.flatMap((plugin) => {
    const file = nameOrNull(plugin.file, PLUGIN_FILE);
    if (file === null) return [];
    const { status, autoUpdate } = plugin;
    const offered = plugin.update ?? shownVersion(check?.shownPlugins, plugin.file);
    const isFree = status === 'must_use' || status === 'dropin';
    return [{ file, ...namedVersion(plugin), status, update: isFree ? null : updateTo(offered), autoUpdate }];
  });
  const themes = website.themes.flatMap((theme) => {
    const stylesheet = nameOrNull(theme.stylesheet, THEME_STYLESHEET);
    if (stylesheet === null) return [];
    const { status, bundled, autoUpdate } = theme;
    const offered = theme.update ?? shownVersion(check?.shownThemes, theme.stylesheet);
    const parent = theme.parent === null ? null : cleanText(theme.parent);
    const update = bundled ? null : updateTo(offered);
    return [{ stylesheet, ...namedVersion(theme), status, parent, bundled, update, autoUpdate }];
  });
  return {
    core: { version: cleanText(website.core.version), update: updateTo(website.core.update) },
    plugins: plugins.slice(0, MOST_PLUGINS),
    themes: themes.slice(0, MOST_THEMES),
    administrators: website.administrators.slice(0, MOST_ADMINISTRATORS).map((user) => ({
      login: cleanText(user.login),
      email: user.email === null ? null : cleanText(user.email),
      displayName: cleanText(user.displayName),
      registeredAt: timeOrNull(user.registeredAt),
    })),
    siteHealth: isAsked ? healthOf(check?.siteHealth ?? website.siteHealth) : null,
    multisite: website.multisite,
    isComplete:
      website.isComplete &&
      plugins.length === website.plugins.length &&
      themes.length === website.themes.length,
    updateCheck: isAsked ? updateCheckOf(check?.updateCheck ?? null) : null,
    mark,
  };
}

/** A name that identifies a plugin or theme must not be changed, so an unusual one is left out. */
function nameOrNull(name: string, pattern: string): string | null {
  return cleanText(name) === name && new RegExp(pattern, 'u').test(name) ? name : null;
}

function namedVersion({ name, version }: { name: string; version: string | null }) {
  return { name: cleanText(name), version: version === null ? null : cleanText(version) };
}

const updateTo = (version: string | null) => (version === null ? null : { version: cleanText(version) });

function shownVersion(shown: PrintedCheck['shownPlugins'] | undefined, of: string): string | null {
  return shown?.find((one) => one.of === of)?.version ?? null;
}

/** WordPress stores `YYYY-MM-DD hh:mm:ss` in UTC, and zeros for an unknown time. */
function timeOrNull(stored: string): string | null {
  if (!/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(stored) || stored.startsWith('0000')) return null;
  const time = new Date(`${stored.replace(' ', 'T')}Z`);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function healthOf(printed: PrintedWebsite['siteHealth']): SiteHealth | null {
  if (printed === null) return null;
  const { good, recommended, critical, issues } = printed;
  const clean = issues
    .slice(0, MOST_HEALTH_ISSUES)
    .map(({ label, severity }) => ({ label: cleanText(label), severity }));
  return { good, recommended, critical, issues: clean };
}

const NOT_ASKED = 'WordPress does not run, so it could not ask for updates.';

function updateCheckOf(printed: PrintedCheck['updateCheck']): UpdateCheck {
  const reason = (kind: keyof UpdateCheck) => {
    if (printed === null) return NOT_ASKED;
    const said = printed[kind];
    return said === null ? null : cleanText(said) || 'unknown reason';
  };
  return { core: reason('core'), plugins: reason('plugins'), themes: reason('themes') };
}
