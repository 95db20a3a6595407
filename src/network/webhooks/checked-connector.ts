import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { bareHost } from '../../lib/host-names.ts';
import { type ProxyVariables, proxyFor } from '../../lib/outbound-proxy.ts';
import { addressesOf, type DnsResolver } from '../dns/resolver.ts';
import type { AddressPolicy } from '../probe/address-policy.ts';
import { quotable } from '../probe/untrusted-text.ts';

/** The address of a receiver is not public. Thrown at each connection, because names can change (DNS rebinding). */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

/** The operator's proxy does not connect to a receiver. */
export class ProxyRefused extends Error {
  override name = 'ProxyRefused';
}

interface ConnectorOptions {
  resolver: DnsResolver;
  mayContact: AddressPolicy;
  proxy: ProxyVariables;
  limitMs: number;
}

/**
 * Connects only to addresses that the policy allows. A proxy is asked for such an address, not for the name: it could look up another one,
 * and reach what the receiver must not.
 */
export function checkedConnector({
  resolver,
  mayContact,
  proxy,
  limitMs,
}: ConnectorOptions): buildConnector.connector {
  /** At least one address. Rejects with an {@link AddressRefused} if none is allowed. */
  async function allowedAddresses(host: string): Promise<string[]> {
    // Node looks up no name for a literal.
    if (isIP(host) !== 0) {
      if (mayContact(host)) return [host];
      throw new AddressRefused(`${host} is not a public address.`);
    }
    const addresses = await addressesOf(resolver, host, AbortSignal.timeout(limitMs));
    const allowed = addresses.filter(mayContact);
    if (allowed.length > 0) return allowed;
    throw new AddressRefused(
      addresses.length === 0
        ? `${quotable(host)} has no address.`
        : `${quotable(host)} does not lead to a public address.`,
    );
  }

  const lookup: LookupFunction = (host, options, callback) => {
    allowedAddresses(host).then(
      (allowed) => {
        const [first = ''] = allowed;
        if (!options.all) return callback(null, first, isIP(first));
        callback(
          null,
          allowed.map((address) => ({ address, family: isIP(address) })),
        );
      },
      (error: unknown) => callback(asError(error), ''),
    );
  };
  const connect = buildConnector({ lookup, timeout: limitMs });

  return (options, callback) => {
    const host = bareHost(options.hostname);
    const target = new URL(`${options.protocol}//${options.host ?? options.hostname}`);
    const through = proxyFor(target, proxy);
    if (through === null && isIP(host) === 0) return connect(options, callback);
    allowedAddresses(host)
      .then(async ([address = '']) => {
        if (through === null) return connect(options, callback);
        const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
        const socket = await tunnel(through, hostAndPort({ host: address, port }), limitMs);
        if (options.protocol === 'https:') connect({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      })
      .catch((error: unknown) => callback(asError(error), null));
  };
}

/** A connection through a proxy (RFC 9110 section 9.3.6). Its address and password stay out of what users see. */
function tunnel(proxy: URL, target: string, limitMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const send = proxy.protocol === 'https:' ? requestHttps : requestHttp;
    const host = bareHost(proxy.hostname);
    const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
    const asked = send({
      method: 'CONNECT',
      host,
      // Else Node takes the one of the header below. SNI is for names only (RFC 6066 section 3).
      ...(isIP(host) === 0 ? { servername: host } : {}),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      path: target,
      headers: {
        host: target,
        ...(login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
      },
      agent: false,
      signal: AbortSignal.timeout(limitMs),
    });
    const refused = ({ statusCode }: IncomingMessage) =>
      reject(
        new ProxyRefused(
          `The proxy of this platform answered ${statusCode}; ask the operator to let it connect.`,
        ),
      );
    asked.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      refused(response);
    });
    asked.once('response', (response) => {
      response.destroy();
      refused(response);
    });
    asked.once('error', (cause) =>
      reject(
        new ProxyRefused('The proxy of this platform does not answer; ask the operator to check it.', {
          cause,
        }),
      ),
    );
    asked.end();
  });
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
