import { parseEnv } from 'node:util';

/** Variables by name, as in the environment. */
type Variables = Record<string, string | undefined>;

/** The file of settings that the service runs with: those that the set-up was called with. */
export function settingsText(environment: Variables): string {
  const lines = given(environment).map(([name, value]) => `${name}=${quoted(value)}\n`);
  return `# Settings of "homeport host" on this machine; README lists them all.\n${lines.join('')}`;
}

/** Names of the settings that have another value in the environment than in the file, or none there. */
export function differingSettings(file: string, environment: Variables): string[] {
  const present = Object.fromEntries(given(parseEnv(file)));
  return given(environment)
    .filter(([name, value]) => present[name] !== value)
    .map(([name]) => name);
}

/** As the configuration is read: an empty value is no value. */
function given(variables: Variables): [string, string][] {
  return Object.entries(variables)
    .map(([name, value = '']): [string, string] => [name, value.trim()])
    .filter(([name, value]) => name.startsWith('HOMEPORT_') && value !== '');
}

/** The parser knows three quotes and no escapes in two of them. */
function quoted(value: string): string {
  const quote = ["'", '`', '"'].find((mark) => !value.includes(mark));
  if (quote === undefined) throw new Error('a setting cannot have every kind of quote in it');
  return `${quote}${value}${quote}`;
}
