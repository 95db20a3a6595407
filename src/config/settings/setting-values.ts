import { isIP } from 'node:net';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { HOST_NAME } from '../../lib/host-names.ts';
import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/** An address to listen on. Port 0 lets the system choose one. */
export interface ListenAddress {
  host: string;
  port: number;
}

/** A range of IP addresses, as CIDR. */
export type AddressRange = ReturnType<typeof ipaddr.parseCIDR>;

/** An invalid configuration. The message names the setting and its valid values. */
export class ConfigError extends OperatorError {
  override name = 'ConfigError';
}

/** The part of a setting's text that no one may see: all of it, or what an address has besides protocol, host and path. */
export type Secrecy = 'all' | 'in address';

/** Parses a setting's text. Throws a ConfigError that names the variable. */
export interface ValueParser<Value> {
  (text: string, variable: string): Value;
  hides?: Secrecy;
}

/** The parser of a text with a secret in it. */
export const hiding = <Value>(
  hides: Secrecy,
  parse: (text: string, variable: string) => Value,
): ValueParser<Value> => Object.assign((text: string, variable: string) => parse(text, variable), { hides });

export const anyText: ValueParser<string> = (text) => text;

/** A path in the file system. Relative paths start at the working directory. */
export const path: ValueParser<string> = (text) => resolve(text);

export const wholeNumber =
  (least: number, most: number): ValueParser<number> =>
  (text, variable) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new ConfigError(`${variable} must be a whole number from ${least} to ${most}; it is "${text}".`);
    }
    return value;
  };

/** A number of hours; null for `always`. */
export const hoursOrAlways: ValueParser<number | null> = (text, variable) => {
  if (text === 'always') return null;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new ConfigError(`${variable} must be a number of hours, or "always"; it is "${text}".`);
};

/** `hh:mm`. */
export const timeOfDay: ValueParser<{ hour: number; minute: number }> = (text, variable) => {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hour === undefined || minute === undefined)
    throw new ConfigError(`${variable} must be a time like 02:30; it is "${text}".`);
  return { hour: Number(hour), minute: Number(minute) };
};

/** `first-last`, both positive and in order. */
export const numberRange: ValueParser<{ first: number; last: number }> = (text, variable) => {
  const [, first, last] = /^(\d{1,10})-(\d{1,10})$/.exec(text) ?? [];
  if (first === undefined || last === undefined || Number(first) < 1 || Number(first) > Number(last)) {
    throw new ConfigError(`${variable} must be a range like 200000-299999; it is "${text}".`);
  }
  return { first: Number(first), last: Number(last) };
};

export const oneOf =
  <const Choice extends string>(choices: readonly Choice[]): ValueParser<Choice> =>
  (text, variable) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) {
      throw new ConfigError(`${variable} must be one of ${choices.join(', ')}; it is "${text}".`);
    }
    return choice;
  };

export const trueOrFalse: ValueParser<boolean> = (text, variable) =>
  oneOf(['true', 'false'])(text, variable) === 'true';

/** A URL. It may contain a password, so messages do not repeat it. */
export const url = (protocols: string[]): ValueParser<string> =>
  hiding('in address', (text, variable) => parsedUrl(text, variable, protocols).href);

/** A URL that paths are appended to: without credentials, query, fragment or trailing slash. */
export const baseUrl: ValueParser<string> = (text, variable) => {
  const { username, password, search, hash, href } = parsedUrl(text, variable, ['https:', 'http:']);
  if (username !== '' || password !== '' || search !== '' || hash !== '') {
    throw new ConfigError(`${variable} must be an address alone, like https://api.example.com.`);
  }
  return href.replace(/[/?#]+$/, '');
};

function parsedUrl(text: string, variable: string, protocols: string[]): URL {
  const parsed = URL.parse(text);
  if (!parsed || !protocols.includes(parsed.protocol)) {
    throw new ConfigError(`${variable} must be an address that begins with ${protocols.join('// or ')}//.`);
  }
  return parsed;
}

export const listenAddress: ValueParser<ListenAddress> = (text, variable) => {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(text);
  const [, inBrackets, plain, digits] = parts ?? [];
  const host = inBrackets ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (inBrackets !== undefined && !ipaddr.IPv6.isValid(inBrackets))) {
    throw new ConfigError(
      `${variable} must be "address:port", like 127.0.0.1:8443 or [::1]:8443; it is "${text}".`,
    );
  }
  return { host, port };
};

/** Addresses and ranges, separated by commas. */
export const addressRanges: ValueParser<AddressRange[]> = (text, variable) =>
  parts(text).map((part) => addressRange(part, variable));

/** IP addresses, separated by commas. */
export const ipAddresses: ValueParser<string[]> = (text, variable) =>
  parts(text).map((part) => {
    if (isIP(part) !== 0) return part;
    throw new ConfigError(`${variable} must list IP addresses; "${part}" is not one.`);
  });

/** At least one address of a DNS server, separated by commas. The default port is 53. */
export const dnsServers: ValueParser<ListenAddress[]> = (text, variable) => {
  const servers = parts(text).map((part) => {
    const server = isIP(part) === 0 ? listenAddress(part, variable) : { host: part, port: 53 };
    if (isIP(server.host) !== 0 && server.port !== 0) return server;
    throw new ConfigError(
      `${variable} must name DNS servers by IP address, like 9.9.9.9:53; it is "${part}".`,
    );
  });
  if (servers.length > 0) return servers;
  throw new ConfigError(`${variable} must name at least one DNS server, like 9.9.9.9:53.`);
};

export const mailAddress: ValueParser<string> = (text, variable) => {
  if (/^[^\s@<>,]+@[^\s@<>,]+$/.test(text)) return text;
  throw new ConfigError(`${variable} must be a mail address like hostmaster@example.com; it is "${text}".`);
};

function parts(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function addressRange(text: string, variable: string): AddressRange {
  const [address = '', bits] = text.split('/');
  // Refuses historic short forms: 10.1 would mean 10.0.0.1.
  if (ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)) {
    if (bits === undefined) return [ipaddr.parse(address), ipaddr.IPv6.isValid(address) ? 128 : 32];
    if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  }
  throw new ConfigError(
    `${variable} must list IP addresses or ranges like 10.0.0.0/8; "${text}" is not one.`,
  );
}

const DOMAIN = new RegExp(`^${HOST_NAME}$`);
/** A host name with the longest install name, a dot and this domain has at most 253 characters (RFC 1035). */
const LONGEST_DOMAIN = 200;

export const domainSuffix: ValueParser<string> = (text, variable) => {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (name.length > LONGEST_DOMAIN || !DOMAIN.test(name)) {
    throw new ConfigError(`${variable} must be a domain name like sites.example.com; it is "${text}".`);
  }
  return name;
};

export const credential = hiding('all', (text, variable): { username: string; password: string } => {
  const [username, password] = split(text);
  if (parseUuid(username) !== username || password.length < 16) {
    throw new ConfigError(
      `${variable} must be a lower-case UUID, a colon, and a password of at least 16 characters.`,
    );
  }
  return { username, password };
});

export const s3Credentials = hiding(
  'all',
  (text, variable): { accessKeyId: string; secretAccessKey: string } => {
    const [accessKeyId, secretAccessKey] = split(text);
    if (accessKeyId === '' || secretAccessKey === '') {
      throw new ConfigError(`${variable} must be an access key id, a colon, and the secret access key.`);
    }
    return { accessKeyId, secretAccessKey };
  },
);

/** The texts before and after the first colon. */
function split(text: string): [string, string] {
  const colon = text.indexOf(':');
  return colon === -1 ? ['', ''] : [text.slice(0, colon), text.slice(colon + 1)];
}

/** `smtp://host:port` or `smtps://host:port`. The password belongs into a file, because settings appear in process lists and logs. */
export const relayUrl: ValueParser<string> = (text, variable) => {
  const { username, password, hostname, pathname, search, hash, href } = parsedUrl(text, variable, [
    'smtp:',
    'smtps:',
  ]);
  if (username !== '' || password !== '') {
    throw new ConfigError(
      `${variable} must have no user name and password; write them to a file and name it in HOMEPORT_RELAY_CREDENTIALS.`,
    );
  }
  if (hostname === '' || !['', '/'].includes(pathname) || search !== '' || hash !== '') {
    throw new ConfigError(`${variable} must be an address alone, like smtp://relay.example.com:587.`);
  }
  return href;
};

/** A mail address with a placeholder for the name of an install. */
export const senderPattern: ValueParser<string> = (text, variable) => {
  if (/^[A-Za-z0-9.+_=-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(text.replaceAll('{name}', 'name')))
    return text;
  throw new ConfigError(
    `${variable} must be a mail address like bounces+{name}@example.com; it is "${text}".`,
  );
};
