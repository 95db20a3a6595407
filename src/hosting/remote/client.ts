import { StringDecoder } from 'node:string_decoder';
import type { Pool } from 'undici';
import { type Command, ProtocolError } from '../contract/command.ts';
import {
  BrokenWebsiteError,
  PermanentHostError,
  RefusedImportError,
  RefusedRestoreError,
  UnchangedWebsiteError,
} from '../contract/errors.ts';
import type { HostMachine } from '../contract/host.ts';
import {
  COMMAND_NAMES,
  COMMAND_OF,
  type CommandName,
  type HostMethod,
  type HostMethods,
  methodsFor,
} from '../contract/host-methods.ts';
import type { ReportProgress } from '../contract/progress.ts';
import type { HostQuestions } from '../contract/questions.ts';
import { answerQuestions, type Listening } from './answering.ts';
import { poolOf } from './host-pool.ts';
import type { HostTarget } from './host-target.ts';
import {
  type Failure,
  PATH_PREFIX,
  PROGRESS_HEADER,
  parseOutcome,
  parseProgress,
  QUESTION_COMMANDS,
} from './protocol.ts';
import { adviceFor, isUnconnected } from './unreachable.ts';

/** Maximum durations in milliseconds, in place of those in the table of commands. */
export type TimeLimits = Readonly<Partial<Record<CommandName, number>>>;

/** Traces a call: runs `work` with the headers that pass the trace on. */
export type TraceCall = <Result>(
  call: { command: string; host: string },
  work: (headers: Readonly<Record<string, string>>) => Promise<Result>,
) => Promise<Result>;

export interface RemoteHost extends HostMachine {
  /** Answers the host's questions until `close`. Calls `onFault` once per outage, with the cause. */
  answer(questions: HostQuestions, onFault: (error: unknown) => void): void;
  /** Cancels commands in progress and closes the connections. */
  close(): Promise<void>;
}

/** The host is unreachable, or disconnected during a command. The message says which, and what to do. */
export class HostUnreachableError extends Error {
  override name = 'HostUnreachableError';
  /** No connection was made, so that the host has done nothing. */
  readonly isUnsent: boolean;
  constructor(message: string, { isUnsent = false, ...options }: ErrorOptions & { isUnsent?: boolean } = {}) {
    super(message, options);
    this.isUnsent = isUnsent;
  }
}

/**
 * A host in another process. Connects at the first call. A call that exceeds its time limit throws
 * {@link HostUnreachableError}. `trace`: for all commands except idle talk.
 */
export function connectHost(target: HostTarget, limits: TimeLimits = {}, trace?: TraceCall): RemoteHost {
  let pool: Promise<Pool> | undefined;
  const closed = new AbortController();

  type Called<Result> = Pick<
    Command<readonly unknown[], readonly never[], Result>,
    'name' | 'callOf' | 'parseResult' | 'isIdleTalk'
  >;

  async function call<Result>(
    command: Called<Result>,
    limitMs: number,
    args: readonly unknown[],
  ): Promise<Result> {
    if (trace === undefined || command.isIdleTalk) return send(command, limitMs, args, {});
    return trace({ command: command.name, host: target.name }, (headers) =>
      send(command, limitMs, args, headers),
    );
  }

  async function send<Result>(
    command: Called<Result>,
    limitMs: number,
    args: readonly unknown[],
    headers: Readonly<Record<string, string>>,
  ): Promise<Result> {
    const { message, signal, report } = command.callOf(args);
    signal?.throwIfAborted();
    const ended = signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]);
    const { status, body } = await within(limitMs, ended, (limited) =>
      post(command.name, { body: JSON.stringify(message), headers }, limited, report),
    );
    const outcome = parseOutcome(body);
    if (status === 200 && 'result' in outcome) return command.parseResult(outcome.result);
    throw 'error' in outcome ? failure(status, outcome.error) : new ProtocolError(`status ${status}`);
  }

  /** The result of `work`. Aborts it at the limit or when `ended` aborts. */
  async function within<Result>(
    limitMs: number,
    ended: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const limit = new AbortController();
    const timer = setTimeout(() => {
      const waited = `it has not finished within ${limitMs / 1_000} s. Look at its log.`;
      limit.abort(new HostUnreachableError(`The host ${target.name} does not answer: ${waited}`));
    }, limitMs);
    try {
      return await work(AbortSignal.any([ended, limit.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  function failure(
    status: number,
    { permanent, message, broken, refused, unchanged, shown, lost }: Failure,
  ): Error {
    switch (status) {
      case 200:
        if (broken) return new BrokenWebsiteError(message);
        if (refused) return new RefusedImportError(message);
        if (unchanged)
          return permanent
            ? new RefusedRestoreError(message, {
                ...(shown === undefined ? {} : { shown }),
                isLost: lost === true,
              })
            : new UnchangedWebsiteError(message);
        return permanent ? new PermanentHostError(message) : new Error(message);
      case 400:
      case 404:
        return new PermanentHostError(
          `The host ${target.name} does not understand (${message}). Install the same version of Homeport there.`,
        );
      default:
        return new HostUnreachableError(`The host ${target.name} refuses: ${message}.`);
    }
  }

  async function post(
    name: string,
    { body, headers }: { body: string; headers: Readonly<Record<string, string>> },
    signal: AbortSignal,
    report: ReportProgress | undefined,
  ): Promise<{ status: number; body: string }> {
    try {
      pool ??= poolOf(target);
      const response = await (await pool).request({
        method: 'POST',
        path: `${PATH_PREFIX}${name}`,
        headers: {
          ...headers,
          'content-type': 'application/json',
          ...(report === undefined ? {} : { [PROGRESS_HEADER]: '1' }),
        },
        body,
        signal,
      });
      const text = report === undefined ? response.body.text() : withoutProgress(response.body, report);
      return { status: response.statusCode, body: await text };
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof ProtocolError) throw cause;
      throw new HostUnreachableError(`The host ${target.name} does not answer: ${adviceFor(target, cause)}`, {
        cause,
        isUnsent: isUnconnected(cause),
      });
    }
  }

  function methodOf<Name extends CommandName>(name: Name): HostMethod<Name> {
    const command = COMMAND_OF[name];
    return (...args) => call(command, limits[name] ?? command.withinMs, args);
  }
  const commands = methodsFor(COMMAND_NAMES, methodOf);
  const { nextQuestion, answer } = QUESTION_COMMANDS;
  return {
    ...checked(commands),
    async start() {
      await commands.describe();
    },
    /** The host continues without this process. */
    async stop() {},
    answer(questions, onFault) {
      const listening: Listening = {
        next: () => call(nextQuestion, nextQuestion.withinMs, []),
        answer: (id, reply) => call(answer, answer.withinMs, [id, reply]),
      };
      void answerQuestions(listening, questions, closed.signal, onFault);
    },
    async close() {
      closed.abort(new Error('the connection to the host was closed'));
      await (await pool)?.destroy();
    },
  };
}

/** Reads an answer. Reports its lines of progress, and returns the rest. */
async function withoutProgress(body: AsyncIterable<Buffer>, report: ReportProgress): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of body) {
    const lines = `${rest}${decoder.write(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.filter((text) => text !== '')) {
      const { done, total, step } = parseProgress(line);
      report(done, total, step);
    }
  }
  return rest + decoder.end();
}

type Checked = {
  [Name in CommandName]: (...args: Parameters<HostMachine[Name]>) => ReturnType<HostMachine[Name]>;
};

/** Rows that pass no signal or no report to a method that takes it. `apply` reports to callers in the process of the host only. */
type Incomplete = {
  [Name in CommandName]: Parameters<HostMachine[Name]>['length'] extends Parameters<
    HostMethods[Name]
  >['length']
    ? never
    : Name;
}[Exclude<CommandName, 'apply'>];

/** Does nothing at run time. The compiler checks that each row agrees with its method in {@link HostMachine}. */
const checked = (methods: HostMethods & Record<Incomplete, never>): Checked => methods;
