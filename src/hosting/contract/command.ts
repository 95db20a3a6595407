import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Immutable } from './immutable.ts';
import type { ReportProgress } from './progress.ts';
import { asSent } from './sent-value.ts';

/** A message that violates the protocol. */
export class ProtocolError extends Error {
  override name = 'ProtocolError';
}

/** A parameter of a method: one field of the message, or with null an object whose members are fields. */
interface Parameter<Schema extends TSchema = TSchema, IsOptional extends boolean = boolean> {
  field: string | null;
  schema: Schema;
  isOptional: IsOptional;
}

/** A parameter that is one field of the message. */
export const field = <Schema extends TSchema>(name: string, schema: Schema): Parameter<Schema, false> => ({
  field: name,
  schema,
  isOptional: false,
});

/** A parameter that is an object. Its members are fields of the message. */
export const members = <Members extends TProperties>(
  schemas: Members,
): Parameter<Type.TObject<Members>, false> => ({
  field: null,
  schema: Type.Object(schemas),
  isOptional: false,
});

/** The same for a last parameter that callers may leave out. */
export const options = <Members extends TProperties>(
  schemas: Members,
): Parameter<Type.TObject<Members>, true> => ({
  field: null,
  schema: Type.Object(schemas),
  isOptional: true,
});

/** The result of a command that returns nothing. */
export const nothing = Type.Unsafe<void>(Type.Null());

/**
 * Where the fleet of several hosts sends a call. `website`: to the host of the install. `keeper`: to the host that has what is left of a
 * deleted install. `host`: never, because callers name the host. `own`: the fleet has its own rule (`fleet.ts`).
 */
export type Route = 'website' | 'keeper' | 'host' | 'own';

/** The properties of a command. */
interface CommandRules {
  /**
   * Maximum duration in milliseconds, at least as long as the time limits of the jobs, whose signals end their commands earlier. The line
   * feeds during a command are not enough: a compromised host could send them forever and block the callers.
   */
  withinMs: number;
  route: Route;
  /** The method takes a signal. It aborts when the control plane disconnects. */
  isCancellable?: true;
  /** The method also takes a function for its progress. */
  reportsProgress?: true;
  /** Callers must not repeat it after a failure. All other commands are idempotent. */
  isUnrepeatable?: true;
  /** Too frequent to log. */
  isIdleTalk?: true;
}

/** The arguments that a caller passes. */
type Accepted<Takes extends readonly Parameter[]> = Takes extends readonly [
  Parameter<infer Schema, infer IsOptional>,
  ...infer Rest extends readonly Parameter[],
]
  ? IsOptional extends true
    ? [given?: Immutable<Static<Schema>>, ...Accepted<Rest>]
    : [given: Immutable<Static<Schema>>, ...Accepted<Rest>]
  : [];

/** The values of a message. */
type Taken<Takes extends readonly Parameter[]> = {
  -readonly [Index in keyof Takes]: Static<Takes[Index]['schema']>;
};

/** The arguments that control a call: its signal, and its report of progress. */
type Control<Rules extends CommandRules> = Rules extends { reportsProgress: true }
  ? [signal: AbortSignal, report: ReportProgress]
  : Rules extends { isCancellable: true }
    ? [signal: AbortSignal]
    : [];

/**
 * A command: a method of a host, and the messages that call it in another process. `Sent`: what the caller's method accepts; `Called`: what
 * the host's method gets; `Result`: what both return.
 */
export interface Command<
  Sent extends readonly unknown[] = readonly unknown[],
  Called extends readonly unknown[] = readonly never[],
  Result = unknown,
  To extends Route = Route,
> extends Omit<CommandRules, 'route'> {
  /** In messages. */
  name: string;
  /** The fields of its message. */
  fields: readonly string[];
  route: To;
  /** Splits the arguments of a call into the message and what controls the call. */
  callOf(args: readonly unknown[]): {
    message: Record<string, unknown>;
    signal: AbortSignal | undefined;
    report: ReportProgress | undefined;
  };
  /** Calls `method` with the values of a message. Throws {@link ProtocolError}, which names the fault, before it calls. */
  run(
    method: (...args: Called) => Promise<Result>,
    message: unknown,
    signal: AbortSignal,
    report: ReportProgress,
  ): Promise<unknown>;
  /** Checks a result. Throws {@link ProtocolError}. */
  parseResult(result: unknown): Result;
  /** For the compiler only. */
  types?: { sent: Sent; called: Called; result: Result };
}

/** The command of that name in messages. `takes` are the parameters of the method before its signal, `gives` is its result. */
export function command<
  const Takes extends readonly Parameter[],
  Gives extends TSchema,
  const Rules extends CommandRules,
>(
  name: string,
  takes: Takes,
  gives: Gives,
  rules: Rules,
): Command<
  [...Accepted<Takes>, ...Partial<Control<Rules>>],
  [...Taken<Takes>, ...Control<Rules>],
  Static<Gives>,
  Rules['route']
> {
  const values = Type.Tuple(takes.map(({ schema }) => schema));
  const shape = Type.Object(
    Object.fromEntries(takes.flatMap(fieldsOf).map((one) => [one, Type.Optional(Type.Unknown())])),
    { additionalProperties: false },
  );
  const isCall = (args: unknown[]): args is [...Taken<Takes>, ...Control<Rules>] =>
    Value.Check(values, args.slice(0, takes.length));
  return {
    ...rules,
    name,
    fields: takes.flatMap(fieldsOf),
    route: rules.route,
    callOf(args) {
      const [signal, report] = args.slice(takes.length);
      return {
        message: Object.assign({}, ...takes.map((one, index) => messageOf(one, args[index]))),
        signal: signal instanceof AbortSignal ? signal : undefined,
        report: rules.reportsProgress && isReport(report) ? report : undefined,
      };
    },
    run(method, message, signal, report) {
      const what = `the arguments of ${name}`;
      const checked = parse(shape, message, what);
      const taken = takes.map((one) => takenOf(one, checked));
      const control = rules.reportsProgress ? [signal, report] : rules.isCancellable ? [signal] : [];
      const args = [...taken, ...control];
      if (!isCall(args)) throw faultOf(values, taken, what, (path) => pathOf(takes, path));
      return method(...args).then((result) => asSent(gives, result) ?? null);
    },
    parseResult: (result) => parse(gives, result, `the result of ${name}`),
  };
}

/** The command with another type of result than its message has. */
export function translated<
  Sent extends readonly unknown[],
  Called extends readonly unknown[],
  Message,
  Result,
  To extends Route,
>(
  of: Command<Sent, Called, Message, To>,
  { write, read }: { write: (result: Result) => Message; read: (message: Message) => Result },
): Command<Sent, Called, Result, To> {
  const { types: _, ...rest } = of;
  return {
    ...rest,
    run: (method, ...more) => of.run(async (...args) => write(await method(...args)), ...more),
    parseResult: (result) => read(of.parseResult(result)),
  };
}

/** Checks a value of a message. Throws {@link ProtocolError}. */
export function parse<Schema extends TSchema>(schema: Schema, value: unknown, what: string): Static<Schema> {
  if (Value.Check(schema, value)) return value;
  throw faultOf(schema, value, what, (path) => path);
}

/** The error does not repeat values, because some are private keys. */
function faultOf(
  schema: TSchema,
  value: unknown,
  what: string,
  shown: (path: string) => string,
): ProtocolError {
  const [first] = Value.Errors(schema, value);
  return new ProtocolError(
    `${what}: ${first === undefined ? 'wrong' : `${shown(first.instancePath) || '/'} ${first.message}`}`,
  );
}

const fieldsOf = ({ field: name, schema }: Parameter): string[] =>
  name === null && Type.IsObject(schema) ? Object.keys(schema.properties) : [name ?? ''];

function messageOf({ field: name, schema }: Parameter, value: unknown): object {
  const sent = asSent(schema, value ?? (name === null ? {} : value));
  return name === null ? Object(sent) : { [name]: sent };
}

function takenOf(parameter: Parameter, message: Record<string, unknown>): unknown {
  if (parameter.field !== null) return message[parameter.field];
  const present = fieldsOf(parameter).filter((name) => message[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, message[name]]));
}

/** `/0/id` of the list of values is `/install/id` of the message. */
function pathOf(takes: readonly Parameter[], path: string): string {
  const [, index, ...rest] = path.split('/');
  const name = takes[Number(index)]?.field ?? null;
  return [...(name === null ? [] : [name]), ...rest].map((part) => `/${part}`).join('');
}

const isReport = (value: unknown): value is ReportProgress => typeof value === 'function';
