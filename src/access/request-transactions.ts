import type { Database, Queries, Transaction } from '../database/database.ts';
import type { Caller } from './caller.ts';

/**
 * As Database.write, for a change that a caller requests. The transaction begins with the conditions of the request: a repeated
 * request or another version of the resource changes nothing.
 */
export function changeFor<Result>(
  database: Pick<Database, 'write'>,
  { begin }: Pick<Caller, 'origin' | 'begin'>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  if (begin === undefined) return database.write(work);
  return database.write(async (transaction) => {
    await begin(transaction);
    return work(transaction);
  });
}

/** As Database.reader, for one query of a caller. */
export function readerFor(database: Pick<Database, 'reader'>, { within }: Pick<Caller, 'within'>): Queries {
  return within ?? database.reader;
}

/** As Database.snapshot, for several queries of a caller. */
export function readFor<Result>(
  database: Pick<Database, 'snapshot'>,
  { within }: Pick<Caller, 'within'>,
  work: (reader: Queries) => Promise<Result>,
): Promise<Result> {
  return within === undefined ? database.snapshot(work) : work(within);
}
