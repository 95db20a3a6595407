import type { HostTarget } from './host-target.ts';

/** Explains why a host is unreachable and what to do. */
export function adviceFor(target: HostTarget, cause: unknown): string {
  const code = codeOf(cause);
  if (code === 'UND_ERR_BODY_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT') {
    return 'it has sent nothing for a while. Look at its log.';
  }
  return 'socket' in target ? adviceForSocket(target.socket, code, cause) : adviceForUrl(target, code, cause);
}

function adviceForSocket(socket: string, code: string, cause: unknown): string {
  switch (code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return `nothing listens at ${socket}. Start it there, as root, with "homeport host"; "homeport host setup" prepares a machine for it.`;
    case 'EACCES':
    case 'EPERM':
      return `this user may not use ${socket}. Add the user to the group of HOMEPORT_HOST_GROUP and restart.`;
    default:
      return `${text(cause)}. Look at its log.`;
  }
}

function adviceForUrl({ name, url }: { name: string; url: string }, code: string, cause: unknown): string {
  if (UNREACHABLE.has(code)) {
    return `nothing answers at ${url} (${text(cause)}). Check that "homeport host" runs there with HOMEPORT_HOST_LISTEN, and that firewalls allow this machine.`;
  }
  if (/CERT|SIGNATURE|INVALID_PURPOSE|ERR_SSL|TLS/.test(code)) {
    return `the server at ${url} is not this host (${text(cause)}). HOMEPORT_HOST_IDENTITY there must be the file that "homeport host add ${name}" wrote.`;
  }
  return `${text(cause)}. Look at its log.`;
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether a request failed before there was a connection. */
export function isUnconnected(cause: unknown): boolean {
  if (cause instanceof AggregateError && cause.errors.length > 0) return cause.errors.every(isUnconnected);
  if (codeOf(cause) === 'UND_ERR_CONNECT_TIMEOUT') return true;
  return cause instanceof Error && 'syscall' in cause && CONNECTING.has(cause.syscall);
}

const CONNECTING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

function codeOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return codeOf(cause.errors[0]);
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : '';
}

function text(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return text(cause.errors[0]);
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || codeOf(cause);
}
