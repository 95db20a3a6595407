import { readFileSync } from 'node:fs';
import type { Setting } from '../../config/settings/setting.ts';
import { SETTINGS } from '../../config/settings.ts';
import { parseUuid } from '../../lib/ids.ts';
import { sealingKeyFile } from '../../secrets/sealing-key.ts';
import { firstSignInFile } from '../platform/first-sign-in.ts';
import { isSecretName } from './secret-names.ts';
import { REMOVED } from './secrets.ts';

const BY_VARIABLE = new Map<string, Setting<unknown>>(
  Object.values(SETTINGS).map((one) => [one.variable, one]),
);
type Texts = Readonly<Record<string, string | undefined>>;

/** The given settings as lines of `NAME=value`, without the secrets that their definitions name. Those of no definition have no value. */
export function shownSettings(texts: Texts): string {
  const lines = Object.entries(texts).map(
    ([variable, text = '']) => `${variable}=${shown(variable, text)}\n`,
  );
  return lines.sort().join('') || 'All settings have their defaults.\n';
}

function shown(variable: string, text: string): string {
  const definition = BY_VARIABLE.get(variable);
  if (definition === undefined || definition.hides === 'all') return REMOVED;
  return definition.hides === 'in address' ? address(text) : text;
}

/** Protocol, host and path. With an `@` in the path, a slash in the password is not encoded. */
function address(text: string): string {
  const parsed = URL.parse(withProtocol(text));
  if (parsed === null || parsed.pathname.includes('@')) return REMOVED;
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

const withProtocol = (text: string): string => (text.includes('://') ? text : `http://${text}`);

/** The secrets in settings, and in the files that settings name or Homeport keeps. */
export function secretsOf(texts: Texts, files: readonly string[]): string[] {
  const inSettings = Object.entries(texts).flatMap(([variable, text = '']) => {
    const hides = BY_VARIABLE.get(variable)?.hides;
    if (hides === 'all') return [text, ...parts(text)];
    return hides === 'in address' ? inAddress(text) : [];
  });
  return [...inSettings, ...files.flatMap(inFile)];
}

/** Shorter parts are words. */
const SHORTEST_PART = 8;

/** A credential is a name, a colon and the secret. Headers are names, equals signs and values, which are encoded; the last word is the token. */
function parts(text: string): string[] {
  const values = text.split(',').flatMap((part) => {
    const value = part.slice(part.indexOf('=') + 1).trim();
    return [value, decoded(value), ...decoded(value).split(' ').slice(-1)];
  });
  return [text.slice(text.indexOf(':') + 1), ...values.filter(({ length }) => length >= SHORTEST_PART)];
}

/** The password as it is written, and as programs read it; also of an address that they refuse. Other parameters are no secrets. */
function inAddress(text: string): string[] {
  const written = /:\/\/[^:/?#]*:(.*)@/s.exec(withProtocol(text))?.[1] ?? '';
  const parsed = URL.parse(withProtocol(text));
  if (parsed === null) return [text, written, decoded(written)];
  const parameters = [...parsed.searchParams].flatMap(([name, value]) => (isSecretName(name) ? value : []));
  return [written, decoded(written), parsed.password, decoded(parsed.password), ...parameters];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The files with secrets that settings name or Homeport keeps, also if another setting is wrong. */
export function secretFilesOf(texts: Texts): string[] {
  const dataDir = settingOf(SETTINGS.dataDir, texts);
  const kept =
    dataDir === null
      ? []
      : [
          sealingKeyFile({ dataDir, sealingKey: settingOf(SETTINGS.sealingKey, texts) }),
          firstSignInFile({ dataDir }),
        ];
  const named = [SETTINGS.relayCredentials, SETTINGS.hostIdentity, SETTINGS.tlsKey].map((one) =>
    settingOf(one, texts),
  );
  return [...kept, ...named].filter((file) => file !== null);
}

/** Null for a setting that is absent or wrong. */
function settingOf<Value>({ variable, read }: Setting<Value>, texts: Texts): Value | null {
  try {
    return read(texts[variable]);
  } catch {
    return null;
  }
}

/** A password or token among other words. */
const LONG_WORD = /^[A-Za-z0-9_+=-]{16,}$/;

/** Each line of a file of secrets, the whole, and what looks like a secret in its lines. A file that cannot be read has told no one its secrets. */
function inFile(path: string): string[] {
  try {
    const text = readFileSync(path, 'utf8').trim();
    const words = text
      .split(/[\s/:'"]+/)
      .filter((word) => LONG_WORD.test(word) && parseUuid(word) === undefined);
    return [text, ...text.split('\n').map((line) => line.trim()), ...words];
  } catch {
    return [];
  }
}
