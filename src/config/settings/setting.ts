import type { Secrecy, ValueParser } from './setting-values.ts';

/** A setting of Homeport. */
export interface Setting<Value> {
  /** The environment variable, and the name in the file given with `--config`. */
  variable: string;
  /** Its default for the documentation, in Markdown. */
  defaultText: string;
  /** Its meaning for the documentation, in Markdown. */
  meaning: string;
  /** What of its text no one may see; undefined: nothing. */
  hides: Secrecy | undefined;
  /** Parses the value; `text` is undefined if the setting is absent. Throws a ConfigError. */
  read(text: string | undefined): Value;
}

/** A setting with a default text, which is parsed like a given one. */
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
    hides: parse.hides,
    read: (text) => parse(text ?? standard, variable),
  };
}

/** A setting that is null if absent. `absence` describes the consequence for the documentation. */
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
    hides: parse.hides,
    read: (text) => (text === undefined ? null : parse(text, variable)),
  };
}

/** A setting with several values, empty if absent. */
export function list<Value>(
  variable: string,
  meaning: string,
  parse: ValueParser<Value[]>,
): Setting<Value[]> {
  return {
    variable,
    defaultText: 'none',
    meaning,
    hides: parse.hides,
    read: (text) => parse(text ?? '', variable),
  };
}
