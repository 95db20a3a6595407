import type { Compilable, CompiledQuery, Expression, Kysely } from 'kysely';
import type { ChangeFeed } from './change-feed.ts';
import type { Tables } from './tables.ts';

/** A query builder bound to a connection: for reading, or inside a transaction. */
export type Queries = Kysely<Tables>;

/**
 * A transaction. It holds the only writer on SQLite, so nothing but queries may be awaited inside: no file, no
 * network, no timer.
 */
export interface Transaction {
  readonly dialect: 'sqlite' | 'postgres';
  readonly queries: Queries;
  /** Runs `effect` once the transaction is durable; never if it is rolled back. */
  afterCommit(effect: () => void): void;
}

/** A query compiled once; called with its parameters. Its rows may be shared with other callers: copy before changing. */
export type PreparedQuery<Parameters, Row> = (parameters: Parameters) => Promise<readonly Readonly<Row>[]>;

export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** Sees what is committed; on SQLite a connection of its own, so that reading never waits for a writer. */
  readonly reader: Queries;
  /**
   * Runs `work` in one transaction and resolves once it is durable. If `work` throws, nothing of it stays and the
   * error is passed on. May run `work` again after a serialisation failure, so `work` has no other effects.
   */
  write<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /** Compiles a query for reading once. For the few that every request makes. */
  prepare<Parameters extends object, Row>(
    build: (queries: Queries, parameter: ParameterOf<Parameters>) => Compilable<Row>,
  ): PreparedQuery<Parameters, Row>;
  /** What is changed, by this process or another, as it is committed. */
  readonly changes: ChangeFeed;
  /** Throws unless the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Stands for one named parameter while a query is compiled. */
export type ParameterOf<Parameters> = <Name extends keyof Parameters & string>(
  name: Name,
) => Expression<Parameters[Name]>;

/** A stand-in among a compiled query's parameters, replaced by the value at each call. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** The stand-in, typed as the parameter's own type: the value takes its place before the query runs. */
// biome-ignore lint/suspicious/noExplicitAny: a stand-in for a value of any type
export function placeholder(name: string): any {
  return new Placeholder(name);
}

/** Makes the function that fills a compiled query's placeholders in the order in which the driver wants them. */
export function parameterFiller(compiled: CompiledQuery): (parameters: object) => unknown[] {
  const slots = compiled.parameters;
  return (parameters) =>
    slots.map((slot) => (slot instanceof Placeholder ? Reflect.get(parameters, slot.name) : slot));
}
