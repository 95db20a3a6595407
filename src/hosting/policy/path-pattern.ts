import { LONGEST_PATTERN } from '../contract/website-rules.ts';

/** The groups that a target can name: `$1` to `$9`. */
const MOST_GROUPS = 9;
/** The largest number in `{2,5}`, because engines copy the repeated part. */
const MOST_REPEATS = 100;

/** Why a regular expression cannot be used. */
export class PatternFault extends Error {
  override name = 'PatternFault';
}

/** A regular expression of a redirect. */
export interface PathPattern {
  /** The number of its groups. */
  groups: number;
  /** The sum of the largest numbers in `{2,5}`: the time of RE2 grows with it. */
  repeats: number;
  /** The same expression for PCRE: `$` is the end of the path, also before a line feed. */
  pcre: string;
}

const DIGITS = /^\d+/;
const QUANTIFIER = /^(?:[*+?]|\{(\d{1,4})(,(\d{0,4}))?\})/;
/** Characters without a meaning of their own, which a `\` may precede. */
const PUNCTUATION = /^[!-/:-@[-`{-~]$/;
const CLASSES = 'dDwW';

/**
 * Parses a regular expression in the syntax that RE2 and PCRE read alike: characters, `.`, sets, groups, `|`, `*`, `+`, `?`, `{n,m}`,
 * `^`, `$`, `\d`, `\w`. Only single characters and sets are repeated, so that no expression takes exponential time for its
 * nesting. Throws a {@link PatternFault}.
 */
export function parsePattern(text: string): PathPattern {
  if (text.length > LONGEST_PATTERN) throw new PatternFault(`it has more than ${LONGEST_PATTERN} characters`);
  const characters = [...text];
  let at = 0;
  let groups = 0;
  let repeats = 0;
  let pcre = '';

  const peek = () => characters[at] ?? '';
  const rest = () => characters.slice(at).join('');
  const take = () => {
    const character = peek();
    at++;
    return character;
  };

  function alternatives(depth: number): void {
    while (at < characters.length && peek() !== ')') {
      if (peek() === '|') pcre += take();
      else quantifier(atom(depth));
    }
  }

  function atom(depth: number): 'character' | 'group' | 'anchor' {
    const character = take();
    switch (character) {
      case '(':
        group(depth);
        return 'group';
      case '[':
        set();
        return 'character';
      case '^':
        pcre += '^';
        return 'anchor';
      case '$':
        pcre += '\\z';
        return 'anchor';
      case '\\':
        pcre += escaped();
        return 'character';
      case '*':
      case '+':
      case '?':
        throw new PatternFault(`a ${character} follows nothing that it could repeat`);
      case '{':
      case '}':
      case ']':
        throw new PatternFault(`write \\${character} for the character ${character}`);
      default:
        if (isControl(character)) throw new PatternFault('it has control characters');
        pcre += character;
        return 'character';
    }
  }

  function group(depth: number): void {
    if (depth >= MOST_GROUPS) throw new PatternFault('its groups are nested too deeply');
    pcre += '(';
    if (peek() === '?') {
      if (!rest().startsWith('?:')) {
        throw new PatternFault('groups with (? are not supported, except (?: for a group without a number');
      }
      pcre += take() + take();
    } else if (++groups > MOST_GROUPS) throw new PatternFault(`it has more than ${MOST_GROUPS} groups`);
    alternatives(depth + 1);
    if (take() !== ')') throw new PatternFault('a ( has no )');
    pcre += ')';
  }

  function quantifier(of: 'character' | 'group' | 'anchor'): void {
    const [whole, least, , most] = QUANTIFIER.exec(rest()) ?? [];
    if (whole === undefined) return;
    if (of === 'anchor') throw new PatternFault('^ and $ cannot be repeated');
    if (of === 'group' && whole !== '?') {
      throw new PatternFault(
        `a group cannot be repeated with ${whole}, because such expressions can take forever; repeat a set such as [a-z/]${whole}`,
      );
    }
    for (const number of [least, most]) {
      if (number !== undefined && number !== '' && Number(number) > MOST_REPEATS) {
        throw new PatternFault(`it repeats something more than ${MOST_REPEATS} times`);
      }
    }
    if (most !== undefined && most !== '' && Number(most) < Number(least)) {
      throw new PatternFault(`${whole} ends before it begins`);
    }
    repeats += Number(most || least || 0);
    at += whole.length;
    pcre += whole;
    if (peek() === '?') pcre += take();
    if (QUANTIFIER.test(rest())) throw new PatternFault(`${whole} is followed by another repetition`);
  }

  function escaped(): string {
    const character = take();
    if (CLASSES.includes(character) && character !== '') return `\\${character}`;
    if (PUNCTUATION.test(character)) return `\\${character}`;
    if (DIGITS.test(character)) throw new PatternFault('references to groups such as \\1 are not supported');
    throw new PatternFault(
      character === ''
        ? 'it ends with a \\'
        : `\\${character} is not supported; \\d, \\w and escaped characters are`,
    );
  }

  function set(): void {
    pcre += '[';
    if (peek() === '^') pcre += take();
    let previous: string | null = null;
    let isEmpty = true;
    while (at < characters.length && peek() !== ']') {
      isEmpty = false;
      const character = take();
      if (character === '[') throw new PatternFault('write \\[ for the character [ in a set');
      if (isControl(character)) throw new PatternFault('it has control characters');
      if (character === '-' && previous !== null && peek() !== ']') {
        pcre += '-';
        previous = rangeEnd(previous);
      } else if (character === '\\') {
        const written = escaped();
        pcre += written;
        // A class of characters such as \d begins no range.
        previous = CLASSES.includes(written.slice(1)) ? null : written.slice(1);
      } else {
        pcre += character === '-' ? '\\-' : character;
        previous = character;
      }
    }
    if (take() !== ']') throw new PatternFault('a [ has no ]');
    if (isEmpty) throw new PatternFault('a set is empty');
    pcre += ']';
  }

  /** The end of a range such as a-z; a range begins no other. */
  function rangeEnd(first: string): null {
    let last = take();
    const written = last === '\\' ? escaped() : last;
    last = written.at(-1) ?? '';
    if (written.length === 2 && CLASSES.includes(last))
      throw new PatternFault('a range ends with a class of characters');
    if (last === '[' && written.length === 1)
      throw new PatternFault('write \\[ for the character [ in a set');
    if ((last.codePointAt(0) ?? 0) < (first.codePointAt(0) ?? 0)) {
      throw new PatternFault(`the range ${first}-${last} ends before it begins`);
    }
    pcre += written;
    return null;
  }

  alternatives(0);
  if (at < characters.length) throw new PatternFault('a ) has no (');
  return { groups, repeats, pcre };
}

function isControl(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x20 || code === 0x7f;
}
