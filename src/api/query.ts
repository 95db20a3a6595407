import { domainToASCII } from 'node:url';
import { INVALID_PARAMETERS, InvalidRequest } from '../lib/failures.ts';
import { parseUuid } from '../lib/ids.ts';
import { exampleIdOf } from './path-parameters.ts';
import { malformedId, resourceName } from './resource-names.ts';

/** A query parameter: its schema for the description, and its parser. */
export interface QueryParameter<Name extends string = string> {
  name: Name;
  schema: object;
  /** For the description. */
  example?: string | number;
  /** The normalised text. Throws InvalidRequest. */
  read(text: string): string;
}

/** Values of the query parameters that the request contains. */
export type QueryValues<Name extends string> = { [Key in Name]?: string };

const LONGEST_TEXT = 200;
const CONTROL_CHARACTER = /\p{Cc}/u;

/** A UUID. */
export function idParameter<Name extends string>(name: Name): QueryParameter<Name> {
  return {
    name,
    schema: {
      type: 'string',
      format: 'uuid',
      description: `only those of the ${resourceName(name)} with this id`,
    },
    example: exampleIdOf(name),
    read(text) {
      const id = parseUuid(text);
      if (id === undefined) throw new InvalidRequest(malformedId(name));
      return id;
    },
  };
}

/** One of the listed words. */
export function wordParameter<Name extends string>(
  name: Name,
  words: readonly string[],
  description?: string,
): QueryParameter<Name> {
  return {
    name,
    schema: { type: 'string', enum: [...words], ...(description === undefined ? {} : { description }) },
    example: words[0],
    read(text) {
      if (!words.includes(text)) throw refusedQuery(name, `${name} must be one of ${words.join(', ')}`);
      return text;
    },
  };
}

/** A search term. */
export function textParameter<Name extends string>(name: Name, description: string): QueryParameter<Name> {
  return {
    name,
    schema: { type: 'string', maxLength: LONGEST_TEXT, description },
    example: 'shop',
    read(text) {
      if (text.length > LONGEST_TEXT || CONTROL_CHARACTER.test(text)) {
        throw refusedQuery(
          name,
          `${name} must be at most ${LONGEST_TEXT} characters, and no control characters`,
        );
      }
      return text;
    },
  };
}

/** A host name, in ASCII or Unicode. */
export function hostNameParameter<Name extends string>(
  name: Name,
  description: string,
): QueryParameter<Name> {
  const { schema, read } = textParameter(name, description);
  return {
    name,
    schema,
    example: 'www.example.com',
    // A text that is no host name matches nothing.
    read: (text) => domainToASCII(read(text)).toLowerCase() || text,
  };
}

/** A time with its zone. */
export function timeParameter<Name extends string>(name: Name, description: string): QueryParameter<Name> {
  return {
    name,
    schema: { type: 'string', format: 'date-time', description },
    example: '2026-01-31T00:00:00Z',
    read(text) {
      const written = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
      const at = new Date(written ? text : Number.NaN);
      // The databases store years as four digits.
      const year = at.getUTCFullYear();
      if (!(year >= 1 && year <= 9999)) {
        throw refusedQuery(name, `${name} must be a time such as 2026-01-31T00:00:00Z`);
      }
      return at.toISOString();
    },
  };
}

/** A day of the calendar. */
export function dayParameter<Name extends string>(name: Name, description: string): QueryParameter<Name> {
  return {
    name,
    schema: { type: 'string', format: 'date', description },
    example: '2026-01-31',
    read(text) {
      const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
      // Only days that exist are written back alike.
      const exists = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
      if (!exists) throw refusedQuery(name, `${name} must be a day such as 2026-01-31`);
      return text;
    },
  };
}

/** A whole number from 0. */
export function wholeParameter<Name extends string>(
  name: Name,
  description: string,
  fallback: number,
): QueryParameter<Name> {
  return {
    name,
    schema: { type: 'integer', minimum: 0, default: fallback, description },
    example: fallback,
    read(text) {
      if (!/^\d{1,15}$/.test(text)) throw refusedQuery(name, `${name} must be a whole number, 0 or greater`);
      return text;
    },
  };
}

/**
 * Reads the parameters that are present. Throws InvalidRequest for malformed and repeated ones, except that endpoints without
 * 400 (not `strict`) ignore repeated ones.
 */
export function readQuery<Name extends string>(
  query: URLSearchParams,
  parameters: readonly QueryParameter<Name>[],
  strict = true,
): QueryValues<Name> {
  const values: QueryValues<Name> = {};
  for (const { name, read } of parameters) {
    const [text, ...more] = query.getAll(name);
    if (more.length > 0) {
      if (!strict) continue;
      throw refusedQuery(name, `${name} must be given once`);
    }
    if (text !== undefined) values[name] = read(text);
  }
  return values;
}

/** The failure of a malformed query parameter. `message` says what to send instead. */
export function refusedQuery(field: string, message: string): InvalidRequest {
  return new InvalidRequest(INVALID_PARAMETERS, [
    { resource: 'Query', field, type: 'invalid_value', code: 'invalid_format', message },
  ]);
}
