import { markdownTable, withTable } from '../../lib/document-table.ts';

/** The fields of log lines that several parts use. A test compares them with the sources. */
export const LOG_FIELDS = {
  level: '10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal',
  time: 'milliseconds since 1970',
  pid: 'the process that wrote the line; of a line about another process, that process',
  hostname: 'its machine',
  msg: 'what happened, a fixed text. What differs is in the fields',
  err: 'an error: type, message, stack, and its causes',
  reason: 'why something is as it is, one sentence',
  request_id: 'a request of the API, or the one that queued a job. Clients get it as `X-Request-Id`',
  trace_id: 'on hosts, the trace of a command, if the control plane records traces',
  method: 'of a request',
  route: 'of a request of the API or the portal: the declared path, without ids and tokens',
  url: 'of a request to a website: its path, without the query',
  status: 'of an answer',
  ms: 'time of a request, in milliseconds',
  address: 'of a client, or of a server',
  credential: 'id of the API credential of a request',
  session: 'id of the portal session of a request',
  user: 'id of a user, or the name of a Unix user',
  worker: 'id of the worker that ran a job',
  job: 'id of a job. It is the id of its operation, which users see',
  kind: 'kind of a job, such as `provision_install`',
  lane: 'what the job occupies: mostly the id of an install',
  attempt: 'number of the attempt of a job, from 1',
  duration_ms: 'time of an attempt that succeeded',
  retry_in_ms: 'time until the next attempt',
  restartInMs: 'time until a daemon or a process is started again',
  install: 'id of an install',
  domain: 'a host name of an install',
  backup: 'id of a backup',
  host: 'id or name of a host; in lines of requests and of PHP, a host name',
  command: 'a command of the control plane to a host, or a program',
  daemon: 'a daemon of a Linux host, such as `php-` and the id of an install',
  version: 'of WordPress, PHP or Homeport',
  file: 'path of a file',
  folder: 'path of a folder',
  step: 'a step of a start, a stop or of the creation of a website',
  exit: 'status of a program that ended',
  count: 'how many',
  fingerprint: 'of an SSH key or a certificate',
  leftOut: 'how many lines like this one were left out before it',
} as const;

const logFieldsTable = (): string =>
  markdownTable(
    ['Field', 'Meaning'],
    Object.entries(LOG_FIELDS).map(([field, meaning]) => [`\`${field}\``, meaning]),
  );

/** Returns the document with the current table between the markers `log-fields`. */
export const withLogFieldsTable = (document: string): string =>
  withTable(document, 'log-fields', logFieldsTable());
