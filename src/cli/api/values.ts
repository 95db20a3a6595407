import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Endpoint, Field } from './endpoints.ts';

/** The flag of a field: `account_id` is `--account-id`. */
export const flagOf = (name: string) => `--${name.replaceAll(/[._]/g, '-')}`;

/** Reads one value of a field, as commander passes it. Throws InvalidArgumentError. */
export function readValue(field: Field, text: string, earlier: unknown): unknown {
  if (field.values.length > 0 && !field.values.includes(text) && field.type === 'text' && text !== 'null') {
    throw new InvalidArgumentError(`It must be one of ${field.values.join(', ')}.`);
  }
  switch (field.type) {
    case 'number': {
      const value = Number(text);
      if (text.trim() === '' || !Number.isFinite(value))
        throw new InvalidArgumentError('It must be a number.');
      return value;
    }
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It must be true or false.');
      return text === 'true';
    case 'texts':
      return [...(Array.isArray(earlier) ? earlier : []), text];
    case 'json':
      return parsed(text, (message) => new InvalidArgumentError(message));
    case 'text':
      return text === 'null' ? null : text;
  }
}

/** The body of a call from its options; undefined if the endpoint takes none. `text` is JSON, `@file`, or `-` for the input. */
export function bodyOf(
  endpoint: Endpoint,
  given: Record<string, unknown>,
  text: string | undefined,
): unknown {
  if (endpoint.body.length === 0 && endpoint.wrapper === null) return undefined;
  if (text !== undefined) return parsed(textOf(text), (message) => new OperatorError(`--body: ${message}`));
  const body = Object.fromEntries(
    endpoint.body
      .map(({ name }): [string, unknown] => [name, given[name]])
      .filter(([, value]) => value !== undefined),
  );
  return endpoint.wrapper === null ? body : { [endpoint.wrapper]: body };
}

function textOf(text: string): string {
  if (text !== '-' && !text.startsWith('@')) return text;
  try {
    return readFileSync(text === '-' ? 0 : text.slice(1), 'utf8');
  } catch (error) {
    throw new OperatorError(`--body cannot be read: ${error instanceof Error ? error.message : text}`);
  }
}

function parsed(text: string, failure: (message: string) => Error): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw failure('It must be JSON.');
  }
}
