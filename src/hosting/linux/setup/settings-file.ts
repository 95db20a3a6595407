import { parseEnv } from 'node:util';

/** Variables by name, as in the environment. */
type Variables = Record<string, string | undefined>;

/** Text of the settings file of both services: the settings given to the setup, and `required` for the missing ones. */
export function settingsText(environment: Variables, required: Variables): string {
  const settings = Object.fromEntries([...given(required), ...given(environment)]);
  return `# Settings of Homeport on this machine; docs/configuration.md lists them all.\n${linesOf(settings)}`;
}

/** Merges the host's file from earlier setups with what the control plane needs besides. */
export function extendedSettings(file: string, required: Variables): string {
  const present = Object.fromEntries(given(parseEnv(file)));
  const missing = Object.fromEntries(given(required).filter(([name]) => !(name in present)));
  const end = file === '' || file.endsWith('\n') ? '' : '\n';
  return `${file}${end}${linesOf(missing)}`;
}

/** Names of settings whose value in the environment differs or is missing. */
export function differingSettings(file: string, environment: Variables): string[] {
  const present = Object.fromEntries(given(parseEnv(file)));
  return given(environment)
    .filter(([name, value]) => present[name] !== value)
    .map(([name]) => name);
}

/** Names in `required` that the file does not set. */
export function missingSettings(file: string, required: readonly string[]): string[] {
  const present = new Set(given(parseEnv(file)).map(([name]) => name));
  return required.filter((name) => !present.has(name));
}

/** Like the configuration: an empty value counts as none. */
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

/** The parser knows three kinds of quotes, two of them without escapes. */
function quoted(value: string): string {
  const quote = ["'", '`', '"'].find((mark) => !value.includes(mark));
  if (quote === undefined) throw new Error('a setting cannot contain every kind of quote');
  return `${quote}${value}${quote}`;
}
