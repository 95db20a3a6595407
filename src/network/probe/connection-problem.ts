import { codeOf } from '../../lib/error-code.ts';

/** Why no connection to an address came about, or why it ended. */
export type ConnectionProblem = 'refused' | 'timeout' | 'reset' | 'unreachable';

const BY_CODE: Record<string, ConnectionProblem> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  ABORT_ERR: 'timeout',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EAFNOSUPPORT: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  EINVAL: 'unreachable',
};

/** Null for an error that is not the connection's but of what was spoken over it. */
export function connectionProblem(error: unknown): ConnectionProblem | null {
  return BY_CODE[codeOf(error) ?? ''] ?? null;
}

/** `where` is a port of a host at an address; the sentence begins with it. */
export function connectionSentence(problem: ConnectionProblem, where: string): string {
  return `${where} ${WORDS[problem]}`;
}

const WORDS: Record<ConnectionProblem, string> = {
  refused: 'refuses connections; check that a web server runs there and that no firewall blocks it.',
  timeout:
    'does not answer in time; check that a web server runs there and that no firewall swallows the traffic.',
  reset: 'breaks the connection off before the answer is complete.',
  unreachable: 'cannot be reached from here: there is no route to that address.',
};
