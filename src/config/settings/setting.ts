import type { ValueParser } from './setting-values.ts';

/** One thing that Homeport is configured by. */
export interface Setting<Value> {
  /** The environment variable, and the name in the file given with `--config`. */
  variable: string;
  /** Its default as the documents have it, in Markdown. */
  defaultText: string;
  /** What it is for, in Markdown. */
  meaning: string;
  /** The value; `text` is undefined where the setting is absent. Throws a ConfigError. */
  read(text: string | undefined): Value;
}

/** A setting whose default is a text like any other. */
export function setting<Value>(
  variable: string,
  standard: string,
  meaning: string,
  parse: ValueParser<Value>,
): Setting<Value> {
  return {
    variable,
    defaultText: `\`${standard}\``,
    meaning,
    read: (text) => parse(text ?? standard, variable),
  };
}

/** A setting that is null where it is absent; `absence` says what happens then. */
export function optional<Value>(
  variable: string,
  absence: string,
  meaning: string,
  parse: ValueParser<Value>,
): Setting<Value | null> {
  return {
    variable,
    defaultText: absence,
    meaning,
    read: (text) => (text === undefined ? null : parse(text, variable)),
  };
}

/** A setting of several values, that is empty where it is absent. */
export function list<Value>(
  variable: string,
  meaning: string,
  parse: ValueParser<Value[]>,
): Setting<Value[]> {
  return { variable, defaultText: 'none', meaning, read: (text) => parse(text ?? '', variable) };
}
