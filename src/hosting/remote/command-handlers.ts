import type { Command } from '../contract/command.ts';
import { type CalledMethods, COMMAND_NAMES, COMMAND_OF, type CommandName } from '../contract/host-methods.ts';
import { LONGEST_SENTENCES } from '../contract/message-values.ts';
import type { ReportProgress } from '../contract/progress.ts';
import { QUESTION_COMMANDS } from './protocol.ts';
import type { QuestionQueue } from './questions.ts';

interface Handler {
  /** Throws {@link ProtocolError} for invalid arguments at once, to distinguish them from a failure of the command. */
  run(message: unknown, signal: AbortSignal, report: ReportProgress): Promise<unknown>;
  isIdleTalk: boolean;
}

/** Handlers of the protocol's commands, by name. */
export function commandHandlers(host: CalledMethods, queue: QuestionQueue): Map<string, Handler> {
  const handlers = new Map<string, Handler>();
  function handle<Called extends readonly unknown[], Result>(
    command: Command<readonly unknown[], Called, Result>,
    method: (...args: Called) => Promise<Result>,
  ): void {
    handlers.set(command.name, {
      run: (message, signal, report) => command.run(method, message, signal, report),
      isIdleTalk: command.isIdleTalk === true,
    });
  }
  function handleOf<Name extends CommandName>(name: Name): void {
    handle(COMMAND_OF[name], (...args) => host[name](...args));
  }
  for (const name of COMMAND_NAMES) handleOf(name);
  handle(QUESTION_COMMANDS.nextQuestion, (signal) => queue.next(signal));
  handle(QUESTION_COMMANDS.answer, async (id, reply) => queue.answer(id, reply));
  return handlers;
}

/** Truncates a text to the length that the protocol allows. */
export function cut(sentences: string): string {
  return sentences.slice(0, LONGEST_SENTENCES);
}
