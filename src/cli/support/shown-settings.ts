import { readFileSync } from 'node:fs';
import type { Setting } from '../../config/settings/setting.ts';
import { SETTINGS } from '../../config/settings.ts';

const REMOVED = '[removed]';
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

/** Protocol, host and path. */
function address(text: string): string {
  const parsed = URL.parse(text.includes('://') ? text : `http://${text}`);
  return parsed === null ? REMOVED : `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

/** The secrets in settings, and in the files that settings name or Homeport keeps. */
export function secretsOf(texts: Texts, files: readonly string[]): string[] {
  const inSettings = Object.entries(texts).flatMap(([variable, text = '']) => {
    const hides = BY_VARIABLE.get(variable)?.hides;
    if (hides === 'all') return [text, ...parts(text)];
    return hides === 'in address' ? inAddress(text) : [];
  });
  return [...inSettings, ...files.flatMap(inFile)];
}

/** A credential is a name, a colon and the secret. */
const parts = (text: string): string[] => [text.slice(text.indexOf(':') + 1)];

function inAddress(text: string): string[] {
  const parsed = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (parsed === null) return [text];
  return [parsed.password, decoded(parsed.password), ...parsed.searchParams.values()];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Each line of a file of secrets, and the whole. A file that cannot be read has told no one its secrets. */
function inFile(path: string): string[] {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return [text, ...text.split('\n').map((line) => line.trim())];
  } catch {
    return [];
  }
}
