import type { HostMachine } from '../contract/host.ts';
import type { ReportProgress } from '../contract/progress.ts';
import { LONGEST_SENTENCES } from './messages.ts';
import { COMMANDS, type Command } from './protocol.ts';
import type { QuestionQueue } from './questions.ts';

type Handler = (body: unknown, signal: AbortSignal, report: ReportProgress) => Promise<unknown>;

/** Commands that are too frequent to log. */
export const IDLE_TALK = new Set([
  COMMANDS.nextQuestion.name,
  COMMANDS.answer.name,
  COMMANDS.describe.name,
  COMMANDS.heldInstalls.name,
  COMMANDS.readPacked.name,
  COMMANDS.readUsage.name,
  COMMANDS.wordpressMarks.name,
  COMMANDS.readLog.name,
]);

/** Handlers of the protocol's commands, by name. They throw {@link ProtocolError} for invalid arguments. */
export function commandHandlers(host: HostMachine, queue: QuestionQueue): Map<string, Handler> {
  const handlers = new Map<string, Handler>();
  /** Invalid arguments throw synchronously, to distinguish them from a failure of the command. */
  function handle<Taken, Given>(
    { name, parseArguments }: Command<Taken, Given>,
    run: (taken: Taken, signal: AbortSignal, report: ReportProgress) => Promise<Given> | Promise<void>,
  ): void {
    handlers.set(name, (body, signal, report) => {
      const taken = parseArguments(body);
      return run(taken, signal, report);
    });
  }
  handle(COMMANDS.describe, () => host.describe());
  handle(COMMANDS.apply, ({ state }, signal) => host.apply(state, signal));
  handle(COMMANDS.remove, ({ install, keepBackups = false }) => host.remove({ ...install, keepBackups }));
  handle(COMMANDS.retire, ({ install }) => host.retire(install));
  handle(COMMANDS.removeBackups, ({ install }) => host.removeBackups(install));
  handle(COMMANDS.purge, ({ install, cache }) => host.purge(install, cache));
  handle(COMMANDS.purgePages, ({ install, paths }) => host.purgePages(install, paths));
  handle(COMMANDS.restartPhp, ({ install }) => host.restartPhp(install));
  handle(COMMANDS.replaceUrls, ({ install }, signal) => host.replaceUrls(install, signal));
  handle(COMMANDS.snapshot, ({ install, backupId }, signal, report) =>
    host.snapshot(install, backupId, signal, report),
  );
  handle(COMMANDS.restore, ({ install, backupId, from, parts, wordpressVersion }, signal, report) =>
    host.restore(install, backupId, {
      ...(from === null ? {} : { from }),
      ...{ parts, wordpressVersion, signal, report },
    }),
  );
  handle(COMMANDS.discardSnapshot, ({ install, backupId }) => host.discardSnapshot(install, backupId));
  handle(COMMANDS.heldBackups, ({ install }) => host.heldBackups(install));
  handle(COMMANDS.backupPlaces, () => host.backupPlaces());
  handle(COMMANDS.moveBackups, (move, signal, report) => host.moveBackups(move, signal, report));
  handle(COMMANDS.acceptBackupPlace, () => host.acceptBackupPlace());
  handle(COMMANDS.forgetFormerBackups, ({ listed }, signal) => host.forgetFormerBackups(listed, signal));
  handle(COMMANDS.pack, ({ install, backupId, archiveId }, signal) =>
    host.pack(install, { backupId, archiveId }, signal),
  );
  handle(COMMANDS.readPacked, async ({ install, archiveId, offset, length }) =>
    (await host.readPacked(install, archiveId, { offset, length })).toString('base64'),
  );
  handle(COMMANDS.discardPacked, ({ install, archiveId }) => host.discardPacked(install, archiveId));
  handle(COMMANDS.measureStorage, ({ install }, signal) => host.measureStorage(install, signal));
  handle(COMMANDS.createDatabaseLink, ({ install }) => host.createDatabaseLink(install));
  handle(COMMANDS.createLogin, ({ install, user }) => host.createLogin(install, user));
  handle(COMMANDS.readWordPress, ({ install, check }, signal) =>
    host.readWordPress(install, { check }, signal),
  );
  handle(COMMANDS.wordpressMarks, ({ after }) => host.wordpressMarks(after));
  handle(COMMANDS.planUpdates, ({ install, wanted }, signal) => host.planUpdates(install, wanted, signal));
  handle(COMMANDS.updateWordpress, ({ install, order }, signal, report) =>
    host.updateWordpress(install, order, signal, report),
  );
  handle(COMMANDS.changeItem, ({ install, order }, signal, report) =>
    host.changeItem(install, order, signal, report),
  );
  handle(COMMANDS.readLog, ({ install, query }, signal) => host.readLog(install, query, signal));
  handle(COMMANDS.importWebsite, ({ install, source, importId }, signal, report) =>
    host.importWebsite(install, source, { importId: importId ?? undefined, signal, report }),
  );
  handle(COMMANDS.lastImport, ({ install }) => host.lastImport(install));
  handle(COMMANDS.readUsage, ({ since }) => host.readUsage(since));
  handle(COMMANDS.readMail, ({ install }) => host.readMail(install));
  handle(COMMANDS.mailQueue, (selection) => host.mailQueue(selection));
  handle(COMMANDS.retryMail, (selection) => host.retryMail(selection));
  handle(COMMANDS.deleteMail, (selection) => host.deleteMail(selection));
  handle(COMMANDS.publish, (proof) => host.publish(proof));
  handle(COMMANDS.withdraw, (proof) => host.withdraw(proof));
  handle(COMMANDS.inspect, async ({ expected, repair }) =>
    (await host.inspect(expected, repair)).map(({ thing, message, mended, remedy, backupOf }) => ({
      thing: cut(thing),
      message: cut(message),
      mended,
      remedy: remedy === null ? null : cut(remedy),
      ...(backupOf === undefined ? {} : { backupOf }),
    })),
  );
  handle(COMMANDS.heldInstalls, ({ after }) => host.heldInstalls(after));
  handle(COMMANDS.belongTo, ({ platform }) => host.belongTo(platform));
  handle(COMMANDS.setAside, ({ platform, installs }) => host.setAside(platform, installs));
  handle(COMMANDS.addWordpress, ({ source }) => host.addWordpress(source));
  handle(COMMANDS.addReleases, async () => {
    const { added, failures } = await host.addReleases();
    return { added, failures: failures.map(cut) };
  });
  handle(COMMANDS.runWpCli, ({ install, args }, signal) => host.runWpCli(install, args, signal));
  handle(COMMANDS.addWpCli, ({ source }) => host.addWpCli(source));
  handle(COMMANDS.nextQuestion, (_none, signal) => queue.next(signal));
  handle(COMMANDS.answer, async ({ id, reply }) => queue.answer(id, reply));
  return handlers;
}

/** Truncates a text to the length that the protocol allows. */
export function cut(sentences: string): string {
  return sentences.slice(0, LONGEST_SENTENCES);
}
