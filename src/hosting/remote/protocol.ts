import Type, { type Static } from 'typebox';
import { SECOND_MS } from '../../lib/durations.ts';
import { command, field, nothing, ProtocolError, parse } from '../contract/command.ts';
import {
  closed,
  count,
  hostKey,
  install,
  ipAddress,
  orNull,
  port,
  sentences,
  text,
  uuid,
} from '../contract/message-values.ts';

/**
 * The protocol between the control plane and a host: HTTP/1.1, `POST /v1/<command>`, JSON both ways. The set of commands is
 * closed. Both ends validate messages against the same schemas.
 *
 * Invalid requests get 400, 404 or 413. Other requests get 200 at once, a line feed every {@link BEAT_MS} during the
 * command, and finally the {@link Outcome}. The line feeds distinguish a busy host from a dead one. Closing the connection
 * cancels the command.
 */
export const PATH_PREFIX = '/v1/';

/**
 * A request with this header gets lines `{"progress":{"done","total"}}` among the line feeds. Hosts of earlier versions ignore it.
 */
export const PROGRESS_HEADER = 'homeport-progress';

/** Interval of the line feeds during a command, in milliseconds. */
export const BEAT_MS = 5_000;
/** Silence after which a host counts as unreachable, in milliseconds. */
export const SILENCE_MS = 20_000;
/** Time that a host holds the request for the next question, in milliseconds. */
export const POLL_MS = 25_000;
/** Time limit for the control plane's answer to a question, in milliseconds. */
export const ANSWER_WITHIN_MS = 5_000;
/** Maximum request body in bytes. Enough for thousands of host names with certificates. */
export const LARGEST_BODY = 64 * 1024 * 1024;
/** Maximum answer in bytes. Enough for all findings of an inspection. */
export const LARGEST_ANSWER = 8 * 1024 * 1024;

/** A host's question to the control plane (HostQuestions). */
export const question = Type.Union([
  Type.Object({
    id: uuid,
    kind: Type.Literal('ssh_login'),
    installName: text(64),
    fingerprintSha256: text(64),
    by: Type.Optional(text(253)),
  }),
  Type.Object({ id: uuid, kind: Type.Literal('backup_password'), installId: uuid }),
  Type.Object({
    id: uuid,
    kind: Type.Literal('ssh_relay'),
    installName: text(64),
    fingerprintSha256: text(64),
    pass: orNull(Type.Object({ fingerprintSha256: text(64), address: orNull(ipAddress) })),
  }),
]);
export type Question = Static<typeof question>;

export const reply = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('ssh_login'),
      login: orNull(
        Type.Object(
          {
            install,
            userId: uuid,
            relayed: Type.Optional(
              Type.Object({ fingerprintSha256: text(64), by: text(253), address: orNull(ipAddress) }, closed),
            ),
          },
          closed,
        ),
      ),
    },
    closed,
  ),
  Type.Object(
    {
      kind: Type.Literal('ssh_relay'),
      relay: orNull(
        Type.Object(
          { install, userId: uuid, host: ipAddress, port, hostKeys: Type.Array(hostKey, { maxItems: 8 }) },
          closed,
        ),
      ),
    },
    closed,
  ),
  Type.Object({ kind: Type.Literal('backup_password'), password: text(1024) }, closed),
  Type.Object({ kind: Type.Literal('failed'), message: Type.String({ maxLength: 4096 }) }, closed),
]);
/** An answer to a question. */
export type Reply = Static<typeof reply>;

/** Commands with which the control plane answers the host's questions. All others are in {@link COMMANDS}. */
export const QUESTION_COMMANDS = {
  nextQuestion: command('next_question', [], orNull(question), {
    withinMs: POLL_MS + 10 * SECOND_MS,
    route: 'host',
    isCancellable: true,
    isIdleTalk: true,
  }),
  answer: command('answer', [field('id', uuid), field('reply', reply)], nothing, {
    // The host no longer waits for a later answer.
    withinMs: 2 * ANSWER_WITHIN_MS,
    route: 'host',
    isIdleTalk: true,
  }),
};

/**
 * `permanent` failures do not succeed on a retry. `broken`: a {@link BrokenWebsiteError}; hosts of earlier versions omit it. `refused`: a
 * {@link RefusedImportError}. `unchanged`: a restore has replaced nothing; hosts of earlier versions omit it.
 * `shown`: that of a {@link RefusedRestoreError}, if it differs. `lost`: its `isLost`.
 */
export type Failure = Static<typeof failure>;

/** Outcome of a command. */
export type Outcome = { result: unknown } | { error: Failure };

const failure = Type.Object({
  permanent: Type.Boolean(),
  message: sentences,
  broken: Type.Optional(Type.Boolean()),
  refused: Type.Optional(Type.Boolean()),
  unchanged: Type.Optional(Type.Boolean()),
  shown: Type.Optional(sentences),
  lost: Type.Optional(Type.Boolean()),
});

const outcome = Type.Union([Type.Object({ result: Type.Unknown() }), Type.Object({ error: failure })]);

/** Parses an outcome. Throws {@link ProtocolError} for other texts. */
export function parseOutcome(body: string): Outcome {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new ProtocolError('the answer is not JSON', { cause });
  }
  return parse(outcome, value, 'the answer');
}

const progress = Type.Object({
  progress: Type.Object({ done: count, total: orNull(count), step: Type.Optional(text(40)) }),
});

/** Writes a line of progress. */
export function progressLine(done: number, total: number | null, step?: string): string {
  return `${JSON.stringify({ progress: { done, total, step } })}\n`;
}

/** Parses a line of progress. Throws {@link ProtocolError} for other texts. */
export function parseProgress(line: string): Static<typeof progress>['progress'] {
  try {
    return parse(progress, JSON.parse(line), 'the progress').progress;
  } catch (cause) {
    throw new ProtocolError('a line of the answer is no progress', { cause });
  }
}
