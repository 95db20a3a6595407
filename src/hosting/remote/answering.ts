import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lib/error-message.ts';
import type { HostQuestions } from '../contract/host.ts';
import type { Question, Reply } from './protocol.ts';

/** What it takes to answer a host: fetching its next question, and sending an answer. */
export interface Listening {
  next(): Promise<Question | null>;
  answer(id: string, reply: Reply): Promise<void>;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** So many questions are answered at the same time; before one of them is, no further one is taken. */
const MOST_AT_ONCE = 32;
/** A host that has no question says so after longer than this, and is asked no sooner again. */
const NONE_AFTER_MS = 1_000;

/**
 * Answers a host's questions until `signal` aborts; several at the same time, if there are. While the host is not to
 * be reached it tries again and again; `onFault` hears of the first failure in a row.
 */
export async function answerQuestions(
  host: Listening,
  questions: HostQuestions,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let pause = 0;
  while (!signal.aborted) {
    try {
      if (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
      const asked = performance.now();
      const question = await host.next();
      pause = 0;
      if (question !== null) begin(question);
      else await rest(asked + NONE_AFTER_MS - performance.now());
    } catch (error) {
      if (pause === 0) unlessEnded(error);
      pause = pause === 0 ? FIRST_PAUSE_MS : Math.min(2 * pause, LONGEST_PAUSE_MS);
      await rest(pause);
    }
  }

  async function rest(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {});
  }

  function begin(question: Question): void {
    const answering = answerOne(host, question, questions)
      .catch(unlessEnded)
      .finally(() => underWay.delete(answering));
    underWay.add(answering);
  }

  function unlessEnded(error: unknown): void {
    if (!signal.aborted) onFault(error);
  }
}

async function answerOne(host: Listening, question: Question, questions: HostQuestions): Promise<void> {
  const reply = await replyTo(question, questions).catch(
    (error: unknown): Reply => ({
      kind: 'failed',
      message: messageOf(error),
    }),
  );
  await host.answer(question.id, reply);
}

async function replyTo(question: Question, questions: HostQuestions): Promise<Reply> {
  switch (question.kind) {
    case 'ssh_login':
      return {
        kind: 'ssh_login',
        login: await questions.sshLogin(question.installName, question.fingerprintSha256),
      };
    case 'backup_password':
      return { kind: 'backup_password', password: await questions.backupPassword(question.installId) };
  }
}
