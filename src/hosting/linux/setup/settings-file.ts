import { parseEnv } from 'node:util';

/** Variables by name, as in the environment. */
type Variables = Record<string, string | undefined>;

/** The file of settings that both services read: those that the set-up was called with, and `required` where it names none. */
export function settingsText(environment: Variables, required: Variables): string {
  const settings = Object.fromEntries([...given(required), ...given(environment)]);
  return `# Settings of Homeport on this machine; docs/configuration.md lists them all.\n${linesOf(settings)}`;
}

/** The file that earlier set-ups wrote for the host alone, with what the control plane needs besides. */
export function extendedSettings(file: string, required: Variables): string {
  const present = Object.fromEntries(given(parseEnv(file)));
  const missing = Object.fromEntries(given(required).filter(([name]) => !(name in present)));
  const end = file === '' || file.endsWith('\n') ? '' : '\n';
  return `${file}${end}${linesOf(missing)}`;
}

/** Names of the settings that have another value in the environment than in the file, or none there. */
export function differingSettings(file: string, environment: Variables): string[] {
  const present = Object.fromEntries(given(parseEnv(file)));
  return given(environment)
    .filter(([name, value]) => present[name] !== value)
    .map(([name]) => name);
}

/** Names among `required` that the file does not set. */
export function missingSettings(file: string, required: readonly string[]): string[] {
  const present = new Set(given(parseEnv(file)).map(([name]) => name));
  return required.filter((name) => !present.has(name));
}

/** As the configuration is read: an empty value is no value. */
function given(variables: Variables): [string, string][] {
  return Object.entries(variables)
    .map(([name, value = '']): [string, string] => [name, value.trim()])
    .filter(([name, value]) => name.startsWith('HOMEPORT_') && value !== '');
}

function linesOf(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${quoted(value)}\n`)
    .join('');
}

/** The parser knows three quotes and no escapes in two of them. */
function quoted(value: string): string {
  const quote = ["'", '`', '"'].find((mark) => !value.includes(mark));
  if (quote === undefined) throw new Error('a setting cannot have every kind of quote in it');
  return `${quote}${value}${quote}`;
}
