import Type from 'typebox';
import { Value } from 'typebox/value';
import { PermanentHostError } from '../../contract/errors.ts';
import type { PhpScriptResult } from '../../runtime/wasm/php-sites.ts';
import { FailedScriptError } from './broken-website.ts';

/** Prints of the script (`databaseCopyCode`). */
const COPIED = /copied$/;
const REFUSED = /refused:(\{.*\})$/s;

const Refusal = Type.Object({
  /** The result code of SQLite. */
  code: Type.Union([Type.Integer(), Type.Null()]),
  reason: Type.String(),
});

/** Result codes of SQLite: SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED = [11, 26];
/** SQLITE_ERROR has many causes; this one is a schema that cannot be read. */
const DAMAGED_SCHEMA = /malformed database schema/;

/**
 * Checks that PHP has copied the database of a website.
 *
 * @throws PermanentHostError if SQLite cannot read the database
 * @throws Error for any other failure, such as a full disk, which may pass
 */
export function requireCopied({ exit, output, error }: PhpScriptResult): void {
  if (exit === 0 && COPIED.test(output)) return;
  const refusal = refusalIn(output);
  if (refusal === null) throw new FailedScriptError('the database could not be copied', error);
  const { code, reason } = refusal;
  if ((code !== null && DAMAGED.includes(code)) || DAMAGED_SCHEMA.test(reason)) {
    throw new PermanentHostError(
      `The database of the website is damaged: ${oneLine(reason)}. Restore a backup from before the damage, without a checkpoint.`,
    );
  }
  throw new Error(`the database could not be copied: ${oneLine(reason)}`);
}

function refusalIn(output: string): { code: number | null; reason: string } | null {
  const text = REFUSED.exec(output)?.[1];
  if (text === undefined) return null;
  try {
    const refusal: unknown = JSON.parse(text);
    return Value.Check(Refusal, refusal) ? refusal : null;
  } catch {
    // PHP of the website printed it.
    return null;
  }
}

/** The texts of a schema are those of the website. */
const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, 200);
