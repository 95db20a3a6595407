import type { Compilable, CompiledQuery, Expression, Kysely } from 'kysely';
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
}

/** Additions of a unit of work to its transaction. */
export interface UnitHooks<Result> {
  /** Runs before the first change. An error undoes the unit. May run again after a conflict. */
  begin(transaction: Transaction): Promise<void>;
  /** Runs after the last change, with the result of the work. */
  end(transaction: Transaction, result: Result): Promise<void>;
  /** Runs in a transaction of its own, if the work fails after some of its changes were committed. */
  interrupted(transaction: Transaction): Promise<void>;
}

/** A query compiled once; called with its parameters. Its rows may be shared with other callers: copy before changing. */
export type PreparedQuery<Parameters, Row> = (parameters: Parameters) => Promise<readonly Readonly<Row>[]>;

export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** Sees committed data. On SQLite a separate connection, so that reading never waits for a writer. */
  readonly reader: Queries;
  /**
   * Runs `work` in one transaction and resolves once it is durable. If `work` throws, the transaction is rolled back and
   * the error is rethrown. `work` may run again after a serialisation failure, so it must have no other effects.
   */
  write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Runs `work`, whose calls of `write` become one transaction together with the hooks. Its reads see its changes. Resolves once
   * all is durable. If `work` throws, everything is rolled back. Work that waits for something slow after a write commits that
   * write early, so that others need not wait. `work` may run again after a conflict.
   */
  together<Result>(hooks: UnitHooks<Result>, work: () => Promise<Result>): Promise<Result>;
  /** Compiles a read query once, for the few queries that every request runs. */
  prepare<Parameters extends object, Row>(
    build: (queries: Queries, parameter: ParameterOf<Parameters>) => Compilable<Row>,
  ): PreparedQuery<Parameters, Row>;
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
