import type { HostQuestions } from '../contract/questions.ts';
import type { Question, Reply } from './protocol.ts';
import { ANSWER_WITHIN_MS, POLL_MS } from './protocol.ts';

/** A question without its id. */
type Asked = { [Kind in Question['kind']]: Omit<Extract<Question, { kind: Kind }>, 'id'> }[Question['kind']];

/** The host's queue of questions. They wait until a control plane requests the next one. */
export interface QuestionQueue {
  questions: HostQuestions;
  /** The next question; null after POLL_MS without one. Rejects when `signal` aborts. */
  next(signal: AbortSignal): Promise<Question | null>;
  /** Settles a question. Ignores late answers. */
  answer(id: string, reply: Reply): void;
  /** Ends all waiting requests and questions. */
  close(): void;
}

/** Time before another listener gets the same question, because the first may have disconnected. */
const OFFER_AGAIN_MS = 2_000;

interface Pending {
  question: Question;
  settle(reply: Reply): void;
}

/** Creates the queue. `uuid` returns ids for questions. */
export function createQuestionQueue(uuid: () => string): QuestionQueue {
  const unanswered = new Map<string, Pending>();
  /** Unanswered questions that no listener has taken, oldest first. */
  const offered = new Set<Pending>();
  /** Waiting listeners, oldest first. */
  const listeners = new Set<(question: Question | null) => void>();

  function offer(pending: Pending): void {
    const [listener] = listeners;
    if (listener === undefined) {
      offered.add(pending);
      return;
    }
    offered.delete(pending);
    listener(pending.question);
  }

  function ask(asked: Asked): Promise<Reply> {
    return new Promise((resolve) => {
      const id = uuid();
      const settle = (reply: Reply) => {
        clearInterval(again);
        clearTimeout(limit);
        unanswered.delete(id);
        offered.delete(pending);
        resolve(reply);
      };
      const pending: Pending = { question: { id, ...asked }, settle };
      const again = setInterval(() => offer(pending), OFFER_AGAIN_MS);
      const limit = setTimeout(
        () => settle({ kind: 'failed', message: 'no control plane answers; start "homeport serve"' }),
        ANSWER_WITHIN_MS,
      );
      unanswered.set(id, pending);
      offer(pending);
    });
  }

  function next(signal: AbortSignal): Promise<Question | null> {
    const [pending] = offered;
    if (pending !== undefined) {
      offered.delete(pending);
      return Promise.resolve(pending.question);
    }
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(limit);
        signal.removeEventListener('abort', onAbort);
        listeners.delete(listener);
      };
      const listener = (question: Question | null) => {
        end();
        resolve(question);
      };
      const onAbort = () => {
        end();
        reject(signal.reason);
      };
      const limit = setTimeout(listener, POLL_MS, null);
      signal.addEventListener('abort', onAbort);
      listeners.add(listener);
    });
  }

  return {
    next,
    answer: (id, reply) => unanswered.get(id)?.settle(reply),
    close() {
      for (const listener of [...listeners]) listener(null);
      for (const { settle } of [...unanswered.values()]) {
        settle({ kind: 'failed', message: 'the host is stopping' });
      }
    },
    questions: {
      async sshLogin(installName, fingerprintSha256, by) {
        const via = by === undefined ? {} : { by };
        const reply = await ask({ kind: 'ssh_login', installName, fingerprintSha256, ...via });
        if (reply.kind === 'ssh_login') return reply.login;
        throw failed(reply);
      },
      async sshRelay(installName, fingerprintSha256, pass) {
        const reply = await ask({ kind: 'ssh_relay', installName, fingerprintSha256, pass });
        if (reply.kind === 'ssh_relay') return reply.relay;
        throw failed(reply);
      },
      async backupPassword(installId) {
        const reply = await ask({ kind: 'backup_password', installId });
        if (reply.kind === 'backup_password') return reply.password;
        throw failed(reply);
      },
    },
  };
}

function failed(reply: Reply): Error {
  return new Error(
    `The control plane did not answer the question: ${reply.kind === 'failed' ? reply.message : 'it answered another question'}`,
  );
}
