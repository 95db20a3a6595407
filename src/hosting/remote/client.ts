import { StringDecoder } from 'node:string_decoder';
import type { Pool } from 'undici';
import {
  BrokenWebsiteError,
  PermanentHostError,
  RefusedImportError,
  RefusedRestoreError,
  UnchangedWebsiteError,
} from '../contract/errors.ts';
import type { HostMachine } from '../contract/host.ts';
import { isImportStep } from '../contract/imports.ts';
import type { ReportProgress } from '../contract/progress.ts';
import type { HostQuestions } from '../contract/questions.ts';
import { MOST_READ_BYTES } from '../contract/snapshots.ts';
import { answerQuestions, type Listening } from './answering.ts';
import { poolOf } from './host-pool.ts';
import type { HostTarget } from './host-target.ts';
import {
  COMMANDS,
  type Command,
  type Failure,
  PATH_PREFIX,
  PROGRESS_HEADER,
  ProtocolError,
  parseOutcome,
  parseProgress,
} from './protocol.ts';
import { isWhole, sentItems, sentOrder, sentParts, sentSelection, sentUpdate } from './sent-arguments.ts';
import { TIME_LIMITS, type TimeLimits } from './time-limits.ts';
import { adviceFor, isUnconnected } from './unreachable.ts';

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
 * {@link HostUnreachableError}.
 */
export function connectHost(target: HostTarget, limits: Partial<TimeLimits> = {}): RemoteHost {
  const withinMs: TimeLimits = { ...TIME_LIMITS, ...limits };
  let pool: Promise<Pool> | undefined;
  const closed = new AbortController();

  async function call<Taken, Given>(
    command: Command<Taken, Given>,
    limitMs: number,
    taken: Taken,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Given> {
    signal?.throwIfAborted();
    const ended = signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]);
    const { status, body } = await within(limitMs, ended, (limited) =>
      post(command.name, JSON.stringify(taken), limited, report),
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
    body: string,
    signal: AbortSignal,
    report: ReportProgress | undefined,
  ): Promise<{ status: number; body: string }> {
    try {
      pool ??= poolOf(target);
      const response = await (await pool).request({
        method: 'POST',
        path: `${PATH_PREFIX}${name}`,
        headers: {
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

  const describe = () => call(COMMANDS.describe, withinMs.describe, {});
  return {
    async start() {
      await describe();
    },
    /** The host continues without this process. */
    async stop() {},
    describe,
    apply: (state, signal) => call(COMMANDS.apply, withinMs.apply, { state }, signal),
    async remove({ id, name, keepBackups = false }) {
      const kept = keepBackups ? { keepBackups } : {};
      await call(COMMANDS.remove, withinMs.remove, { install: { id, name }, ...kept });
    },
    async retire({ id, name }) {
      await call(COMMANDS.retire, withinMs.retire, { install: { id, name } });
    },
    async removeBackups({ id, name }) {
      await call(COMMANDS.removeBackups, withinMs.removeBackups, { install: { id, name } });
    },
    async purge({ id, name }, cache) {
      await call(COMMANDS.purge, withinMs.purge, { install: { id, name }, cache });
    },
    async purgePages({ id, name }, paths) {
      await call(COMMANDS.purgePages, withinMs.purgePages, { install: { id, name }, paths: [...paths] });
    },
    async restartPhp({ id, name }) {
      await call(COMMANDS.restartPhp, withinMs.restartPhp, { install: { id, name } });
    },
    snapshot: ({ id, name }, backupId, signal, report) =>
      call(COMMANDS.snapshot, withinMs.snapshot, { install: { id, name }, backupId }, signal, report),
    restore: ({ id, name }, backupId, { from, parts, wordpressVersion, signal, report } = {}) =>
      call(
        COMMANDS.restore,
        withinMs.restore,
        {
          install: { id, name },
          backupId,
          from: from === undefined ? null : { id: from.id, name: from.name },
          // Left out for a whole restore, so that hosts of earlier versions accept the command.
          ...(parts === undefined || isWhole(parts) ? {} : { parts: sentParts(parts) }),
          ...(wordpressVersion === undefined ? {} : { wordpressVersion }),
        },
        signal,
        report,
      ),
    async discardSnapshot({ id, name }, backupId) {
      await call(COMMANDS.discardSnapshot, withinMs.discardSnapshot, { install: { id, name }, backupId });
    },
    heldBackups: ({ id, name }) =>
      call(COMMANDS.heldBackups, withinMs.heldBackups, { install: { id, name } }),
    backupPlaces: () => call(COMMANDS.backupPlaces, withinMs.backupPlaces, {}),
    moveBackups: ({ installs, to, from }, signal, report) =>
      call(
        COMMANDS.moveBackups,
        withinMs.moveBackups,
        { installs: installs.map(({ id, name }) => ({ id, name })), to, from },
        signal,
        report,
      ),
    acceptBackupPlace: () => call(COMMANDS.acceptBackupPlace, withinMs.acceptBackupPlace, {}),
    forgetFormerBackups: (listed, signal) =>
      call(COMMANDS.forgetFormerBackups, withinMs.forgetFormerBackups, { listed: [...listed] }, signal),
    pack: ({ id, name }, { backupId, archiveId }, signal) =>
      call(COMMANDS.pack, withinMs.pack, { install: { id, name }, backupId, archiveId }, signal),
    async readPacked({ id, name }, archiveId, { offset, length }) {
      const args = { install: { id, name }, archiveId, offset, length: Math.min(length, MOST_READ_BYTES) };
      return Buffer.from(await call(COMMANDS.readPacked, withinMs.readPacked, args), 'base64');
    },
    async discardPacked({ id, name }, archiveId) {
      await call(COMMANDS.discardPacked, withinMs.discardPacked, { install: { id, name }, archiveId });
    },
    async replaceUrls({ id, name }, signal) {
      await call(COMMANDS.replaceUrls, withinMs.replaceUrls, { install: { id, name } }, signal);
    },
    measureStorage: ({ id, name }, signal) =>
      call(COMMANDS.measureStorage, withinMs.measureStorage, { install: { id, name } }, signal),
    lastImport: ({ id, name }) => call(COMMANDS.lastImport, withinMs.lastImport, { install: { id, name } }),
    importWebsite: ({ id, name }, source, { importId, signal, report } = {}) =>
      call(
        COMMANDS.importWebsite,
        withinMs.importWebsite,
        {
          install: { id, name },
          source,
          importId: importId ?? null,
        },
        signal,
        (done, total, step) => {
          if (isImportStep(step)) report?.(done, total, step);
        },
      ),
    createDatabaseLink: ({ id, name }) =>
      call(COMMANDS.createDatabaseLink, withinMs.createDatabaseLink, { install: { id, name } }),
    createLogin: ({ id, name }, user) =>
      call(COMMANDS.createLogin, withinMs.createLogin, { install: { id, name }, user }),
    readWordPress: ({ id, name }, { check }, signal) =>
      call(COMMANDS.readWordPress, withinMs.readWordPress, { install: { id, name }, check }, signal),
    wordpressMarks: (after) => call(COMMANDS.wordpressMarks, withinMs.wordpressMarks, { after }),
    planUpdates: ({ id, name }, { core, plugins, themes }, signal) =>
      call(
        COMMANDS.planUpdates,
        withinMs.planUpdates,
        { install: { id, name }, wanted: { core, plugins: sentItems(plugins), themes: sentItems(themes) } },
        signal,
      ),
    changeItem: ({ id, name }, order, signal, report) =>
      call(
        COMMANDS.changeItem,
        withinMs.changeItem,
        { install: { id, name }, order: sentOrder(order) },
        signal,
        report,
      ),
    async updateWordpress({ id, name }, { updateId, checkpointId, updates, pages, keep }, signal, report) {
      const order = {
        ...{ updateId, checkpointId, updates: updates.map(sentUpdate), pages: [...pages] },
        ...(keep === true ? { keep } : {}),
      };
      const args = { install: { id, name }, order };
      const outcome = await call(COMMANDS.updateWordpress, withinMs.updateWordpress, args, signal, report);
      const { rolledBack, skipped = [], restored = rolledBack !== null } = outcome;
      return { ...outcome, skipped, restored };
    },
    readLog: ({ id, name }, query, signal) =>
      call(COMMANDS.readLog, withinMs.readLog, { install: { id, name }, query }, signal),
    readUsage: (since) =>
      call(COMMANDS.readUsage, withinMs.readUsage, {
        since: since && { ledger: since.ledger, revision: since.revision },
      }),
    readMail: ({ id, name }) => call(COMMANDS.readMail, withinMs.readMail, { install: { id, name } }),
    mailQueue: (selection) => call(COMMANDS.mailQueue, withinMs.mailQueue, sentSelection(selection)),
    retryMail: (selection) => call(COMMANDS.retryMail, withinMs.retryMail, sentSelection(selection)),
    deleteMail: (selection) => call(COMMANDS.deleteMail, withinMs.deleteMail, sentSelection(selection)),
    async publish(proof) {
      await call(COMMANDS.publish, withinMs.publish, proof);
    },
    async withdraw({ hostname, path }) {
      await call(COMMANDS.withdraw, withinMs.withdraw, { hostname, path });
    },
    inspect: (expected, repair) =>
      call(COMMANDS.inspect, withinMs.inspect, {
        expected: expected.map(({ id, name }) => ({ id, name })),
        repair,
      }),
    heldInstalls: (after) => call(COMMANDS.heldInstalls, withinMs.heldInstalls, { after }),
    async belongTo(platform) {
      await call(COMMANDS.belongTo, withinMs.belongTo, { platform });
    },
    setAside: (platform, installIds) =>
      call(COMMANDS.setAside, withinMs.setAside, { platform, installs: [...installIds] }),
    addReleases: () => call(COMMANDS.addReleases, withinMs.addReleases, {}),
    addWordpress: (source) => call(COMMANDS.addWordpress, withinMs.addWordpress, { source }),
    runWpCli: ({ id, name }, args, signal) =>
      call(COMMANDS.runWpCli, withinMs.runWpCli, { install: { id, name }, args: [...args] }, signal),
    addWpCli: (source) => {
      if (source !== null && source !== 'official')
        throw new PermanentHostError('The only source is "official"');
      return call(COMMANDS.addWpCli, withinMs.addWpCli, { source });
    },
    answer(questions, onFault) {
      const listening: Listening = {
        next: () => call(COMMANDS.nextQuestion, withinMs.nextQuestion, {}),
        async answer(id, reply) {
          await call(COMMANDS.answer, withinMs.answer, { id, reply });
        },
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
