import { domainToUnicode } from 'node:url';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { isFullDisk } from '../../../lib/full-disk.ts';
import { RefusedRestoreError } from '../../contract/errors.ts';
import type { Programs } from '../../runtime/runtime.ts';
import { outputOfCompleted } from '../../wordpress/completed-script.ts';
import { failureSentence } from '../../wordpress/failure-sentence.ts';

/** How the URLs of a database change. */
export interface UrlChange {
  /**
   * Host names in the database, with the port if their URLs have one. A name without a port stands for those of this host, too. Names that
   * no URL can contain, such as `*.example.com`, are ignored. Nor is `to` without a port replaced; with `:80` or `:443`, it stands for the
   * URLs without a port of a host that has got other ports since.
   */
  from: readonly string[];
  /** The main name of the website. */
  to: string;
  /**
   * The scheme of all replaced URLs; with `https` also of those that have the name already, because visitors who must use HTTPS cannot load
   * other parts of a page. Null keeps the scheme of each. All get the port of this host for their scheme.
   */
  scheme: 'http' | 'https' | null;
  ports: UrlPorts;
}

/** The ports of a host in the URLs of its visitors; empty for the usual ones. */
export interface UrlPorts {
  http: string;
  https: string;
}

/** The database or the WordPress of the website is at fault. `reason`: for its owner, on one line without a full stop. */
export class UrlsNotReplacedError extends Error {
  override name = 'UrlsNotReplacedError';
  readonly reason: string;
  constructor(hosts: readonly string[], reason: string, options: ErrorOptions) {
    super(`The URLs of ${hosts.join(', ')} in the database could not be replaced: ${reason}`, options);
    this.reason = reason;
  }
}

/**
 * Looser than HOST_NAME: WordPress can run under any name that browsers accept, such as `old-.example.com`, and a restore reads the
 * names from its database.
 */
const HOST_AND_PORT = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/;
const WITHIN_MS = 30 * MINUTE_MS;
/** A line for each changed table, after what WordPress prints. */
const MOST_OUTPUT = 16 * 1024 * 1024;

/**
 * Replaces host names in every URL of the database that `runtime` runs on, including serialised values. Changes everything or nothing.
 * Returns the number of changed rows of each table as JSON; null if there was nothing to replace. Rejects with an
 * {@link UrlsNotReplacedError}, or with another error if a retry can help.
 */
export async function replaceUrls(
  runtime: Programs,
  change: UrlChange,
  signal?: AbortSignal,
): Promise<string | null> {
  const { to, scheme, ports } = change;
  const hosts = replacedHosts(change);
  if (hosts.length === 0) return null;
  const target =
    scheme === null ? [`keep:${ports.http},${ports.https}`, to] : [scheme, withPort(to, ports[scheme])];
  const { exit, stdout, stderr } = await runtime.runScript(
    {
      script: 'replace-urls.php',
      args: [...target, ...hosts],
      timeoutMs: WITHIN_MS,
      mostOutput: MOST_OUTPUT,
    },
    signal,
  );
  const rows = exit === 0 ? outputOfCompleted(stdout) : null;
  if (rows !== null) return rows;
  const failure = new Error(`replace-urls.php failed: ${stderr.trim() || stdout.trim()}`);
  if (isFullDisk(failure)) throw failure;
  const others = change.from.filter((host) => host !== to);
  const named = others.length === 0 ? [to] : others;
  throw new UrlsNotReplacedError(named, failureSentence(stderr.trim() || stdout), { cause: failure });
}

const NOT_ADDRESSED =
  'The addresses in the copied database could not be changed to those of this website, so nothing was replaced.';

/** Replaces URLs in a restored database before it replaces the website's own. Throws a RefusedRestoreError if that database is at fault. */
export async function inRestoredDatabase<Result>(replacing: Promise<Result>): Promise<Result> {
  try {
    return await replacing;
  } catch (error) {
    if (!(error instanceof UrlsNotReplacedError)) throw error;
    throw new RefusedRestoreError(error.message, { shown: NOT_ADDRESSED, cause: error });
  }
}

/** The hosts whose URLs change, in each form that texts can contain. */
export function replacedHosts({ from, to, scheme, ports }: UrlChange): string[] {
  const own = [ports.http, ports.https].filter((port) => port !== '');
  const names = from.filter((host) => HOST_AND_PORT.test(host)).map((host) => withoutPort(host, own));
  const former = [
    ...names.filter((name) => name !== to).map(withoutUsualPort),
    ...(scheme === 'https' ? [to] : []),
  ];
  const hosts = former.flatMap((host) => [host, unicodeOf(host)]);
  return [...new Set([...hosts, ...hosts.flatMap((host) => own.map((port) => withPort(host, port)))])];
}

function withoutPort(host: string, own: readonly string[]): string {
  const [name = '', port = ''] = host.split(':');
  return own.includes(port) ? name : host;
}

const withoutUsualPort = (host: string) => host.replace(/:(80|443)$/, '');

const withPort = (host: string, port: string) =>
  port === '' || host.includes(':') ? host : `${host}:${port}`;

/** A host as people write it. */
function unicodeOf(host: string): string {
  const [name = '', ...port] = host.split(':');
  return [domainToUnicode(name) || name, ...port].join(':');
}
