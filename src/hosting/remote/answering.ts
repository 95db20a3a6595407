import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lib/error-message.ts';
import type { HostQuestions } from '../contract/questions.ts';
import type { Question, Reply } from './protocol.ts';

/** A host's questions: fetches the next one and sends an answer. */
export interface Listening {
  next(): Promise<Question | null>;
  answer(id: string, reply: Reply): Promise<void>;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** Maximum number of questions answered in parallel. */
const MOST_AT_ONCE = 32;
/** Minimum time between polls that return no question. A correct host holds them longer. */
const NONE_AFTER_MS = 1_000;

/**
 * Answers a host's questions in parallel until `signal` aborts. Retries while the host is unreachable. Calls `onFault` for
 * the first failure in a row.
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
        login: await questions.sshLogin(question.installName, question.fingerprintSha256, question.by),
      };
    case 'ssh_relay': {
      const { installName, fingerprintSha256, pass } = question;
      return { kind: 'ssh_relay', relay: await questions.sshRelay(installName, fingerprintSha256, pass) };
    }
    case 'backup_password':
      return { kind: 'backup_password', password: await questions.backupPassword(question.installId) };
  }
}
