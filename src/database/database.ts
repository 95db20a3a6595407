import type { Compilable, CompiledQuery, Expression, Kysely } from 'kysely';
import type { AnswerRows } from './answer-rows.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { Tables } from './tables.ts';

/** A query builder bound to a connection: for reading, or inside a transaction. */
export type Queries = Kysely<Tables>;

/**
 * A transaction. It holds the only writer on SQLite, so await only queries inside: no files, network or
 * timers.
 */
export interface Transaction {
  readonly dialect: 'sqlite' | 'postgres';
  readonly queries: Queries;
  /** Runs `effect` once the transaction is durable; never if it is rolled back. */
  afterCommit(effect: () => void): void;
  /**
   * Runs the last statements of the transaction. PostgreSQL gets its commit in the same write, so that their row locks do not last until
   * this process has read their answers. Each promise is of one statement, which is executed at once: later ones are refused. What fails
   * after them is no longer rolled back.
   */
  commitWith(statements: () => readonly Promise<unknown>[]): Promise<void>;
}

/** A query compiled once; called with its parameters. Its rows may be shared with other callers: copy before changing. */
export type PreparedQuery<Parameters, Row> = (parameters: Parameters) => Promise<readonly Readonly<Row>[]>;

export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** Sees what is durable. On SQLite a separate connection, so that reading never waits for a transaction, only for its sync. */
  readonly reader: Queries;
  /**
   * Runs `work` in one transaction and resolves once it is durable. If `work` throws, the transaction is rolled back and
   * the error is rethrown. `work` may run again after a serialisation failure, so it must have no other effects.
   */
  write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Runs reads that see one state of the database, for an answer that is made of several queries. Await only queries inside, as in a
   * transaction. A single query needs none.
   */
  snapshot<Result>(work: (reader: Queries) => Promise<Result>): Promise<Result>;
  /**
   * Runs statements that may take as long as they need, on one connection and in no transaction: migrations of large tables. PostgreSQL cancels
   * others after 30 s.
   */
  withoutTimeLimit<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /**
   * Compiles a read query once, for the few queries that every request runs. On SQLite, its answers are kept until one of `rows` changes.
   * Throws if it reads a table that `rows` does not name.
   */
  prepare<Parameters extends object, Row>(
    build: (queries: Queries, parameter: ParameterOf<Parameters>) => Compilable<Row>,
    rows: AnswerRows<Parameters>,
  ): PreparedQuery<Parameters, Row>;
  /** Differs after each commit, of this process or another, and costs some microseconds. Null if the database does not offer that. */
  commitMark(): number | null;
  /** Changes committed by this process or another. */
  readonly changes: ChangeFeed;
  /** Throws unless the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Placeholder for one named parameter while a query is compiled. */
export type ParameterOf<Parameters> = <Name extends keyof Parameters & string>(
  name: Name,
) => Expression<Parameters[Name]>;

/** A placeholder among a compiled query's parameters, replaced by the value at each call. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** The placeholder, typed as the parameter, because the value replaces it before the query runs. */
// biome-ignore lint/suspicious/noExplicitAny: a placeholder for a value of any type
export function placeholder(name: string): any {
  return new Placeholder(name);
}

/** Creates the function that fills a compiled query's placeholders in the driver's order. */
export function parameterFiller(compiled: CompiledQuery): (parameters: object) => unknown[] {
  const slots = compiled.parameters;
  return (parameters) =>
    slots.map((slot) => (slot instanceof Placeholder ? Reflect.get(parameters, slot.name) : slot));
}
