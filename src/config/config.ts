import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { closest } from 'fastest-levenshtein';
import { messageOf } from '../lib/error-message.ts';
import { PROXY_SETTINGS } from './settings/proxy.ts';
import type { Setting } from './settings/setting.ts';
import { ConfigError } from './settings/setting-values.ts';
import { TRACING_SETTINGS } from './settings/tracing.ts';
import { SETTINGS } from './settings.ts';

export { type AddressRange, ConfigError, type ListenAddress } from './settings/setting-values.ts';

/** The values of all settings. */
export type Config = { [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]['read']> };

/** Unparsed values of settings, by variable. */
type Texts = Record<string, string | undefined>;

const settings: { [Name in keyof Config]: Setting<Config[Name]> } = SETTINGS;
const NAMES = Object.keys(SETTINGS).filter((name): name is keyof Config => Object.hasOwn(SETTINGS, name));

/**
 * Reads the settings from the environment and from the file of `--config` (lines of `NAME=value`). The environment takes
 * precedence. Empty values count as absent. Throws a ConfigError that names the setting.
 */
export function readConfig(environment: Texts, file?: string): Config {
  const inFile = file === undefined ? {} : readSettingsFile(file);
  const own = [...sharedOf(environment), ...Object.entries(environment).filter(isOurs)];
  refuseUnknown([...Object.keys(inFile), ...own.map(([variable]) => variable)]);
  const texts = withDerived({ ...given(Object.entries(inFile)), ...given(own) });
  const config: Partial<Config> = {};
  for (const name of NAMES) readInto(config, name, texts);
  if (!isComplete(config)) throw new Error('a setting was not read');
  if ((config.tlsCert === null) !== (config.tlsKey === null)) {
    throw new ConfigError('HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY go together: set both, or neither.');
  }
  return config;
}

/** The texts of the settings that are given, by variable, unparsed. Throws a ConfigError if the file cannot be read. */
export function givenSettings(environment: Texts, file?: string): Texts {
  const inFile = file === undefined ? {} : readSettingsFile(file);
  const own = [...sharedOf(environment), ...Object.entries(environment).filter(isOurs)];
  return { ...given(Object.entries(inFile)), ...given(own) };
}

const isOurs = ([variable]: [string, string | undefined]) => variable.startsWith('HOMEPORT_');

/** The settings that programs share. Those of the proxy count in lower case too, which takes precedence as with curl. */
function sharedOf(environment: Texts): [string, string | undefined][] {
  return [
    ...Object.values(PROXY_SETTINGS).map(({ variable }): [string, string | undefined] => [
      variable,
      environment[variable.toLowerCase()] || environment[variable],
    ]),
    ...Object.values(TRACING_SETTINGS).map(({ variable }): [string, string | undefined] => [
      variable,
      environment[variable],
    ]),
  ];
}

function readInto<Name extends keyof Config>(config: Partial<Config>, name: Name, texts: Texts): void {
  const { variable, read } = settings[name];
  config[name] = read(texts[variable]);
}

function isComplete(config: Partial<Config>): config is Config {
  return NAMES.every((name) => name in config);
}

const withDerived = (texts: Texts) => withOperatorEmail(withPublicUrl(texts));

/** The contact of the certificate authority is usually the operator. */
function withOperatorEmail(texts: Texts): Texts {
  const { operatorEmail, acmeContact } = settings;
  const contact = texts[acmeContact.variable];
  return contact === undefined ? texts : { [operatorEmail.variable]: contact, ...texts };
}

/** Without a public URL, uses the port of HOMEPORT_LISTEN for it, so that printed URLs work. */
function withPublicUrl(texts: Texts): Texts {
  const { listen, publicUrl } = settings;
  if (texts[publicUrl.variable] !== undefined || texts[listen.variable] === undefined) return texts;
  const { port } = listen.read(texts[listen.variable]);
  return port === 0 ? texts : { ...texts, [publicUrl.variable]: `https://localhost:${port}` };
}

/** Non-empty values, trimmed. */
function given(pairs: [string, string | undefined][]): Texts {
  return Object.fromEntries(
    pairs.map(([variable, text = '']) => [variable, text.trim()] as const).filter(([, text]) => text !== ''),
  );
}

function readSettingsFile(file: string): Texts {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const reason = messageOf(error);
    throw new ConfigError(`The configuration file ${file} cannot be read: ${reason}.`);
  }
  // parseEnv ignores malformed lines. The operator would think that such a setting is active.
  const stray = text.split(/\r?\n/).findIndex((line) => !/^\s*(#.*)?$|^\s*(export\s+)?\w+\s*=/.test(line));
  if (stray !== -1) throw new ConfigError(`${file}, line ${stray + 1}: not of the form NAME=value.`);
  return parseEnv(text);
}

function refuseUnknown(variables: string[]): void {
  const known = Object.values(SETTINGS).map(({ variable }) => variable);
  for (const variable of variables) {
    if (!known.includes(variable)) {
      throw new ConfigError(
        `There is no setting ${variable}. The nearest is ${closest(variable.toUpperCase(), known)}; docs/configuration.md lists them all.`,
      );
    }
  }
}
