import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ownCertificateFile } from '../../api/api-certificate.ts';
import type { Config, ListenAddress } from '../../config/config.ts';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { askApi, askHttp, askSsh, askTls, whyNotFree } from './answering.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

interface Port {
  check: string;
  setting: string;
  address: ListenAddress;
  ask(address: ListenAddress): Promise<void>;
}

/** Checks the ports for sites and SFTP: each answers if a server runs, and is free otherwise. */
export function checkHostingPorts(config: Config, serverRuns: boolean): Promise<Finding[]> {
  const ports: Port[] = [
    { check: 'sites, HTTP', setting: 'HOMEPORT_EDGE_HTTP', address: config.edgeHttp, ask: askHttp },
    { check: 'sites, HTTPS', setting: 'HOMEPORT_EDGE_HTTPS', address: config.edgeHttps, ask: askTls },
    { check: 'SFTP', setting: 'HOMEPORT_SSH_LISTEN', address: config.sshListen, ask: askSsh },
  ];
  return Promise.all(ports.map((port) => (serverRuns ? checkAnswers(port) : checkFree(port))));
}

async function checkAnswers(port: Port): Promise<Finding> {
  const { check, setting, address, ask } = port;
  if (address.port === 0) return chosenLater(port);
  try {
    await ask(address);
    return ok(check, `Answers on ${hostAndPort(address)}.`);
  } catch (error) {
    return problem(
      check,
      `A server runs, but does not answer on ${hostAndPort(address)}: ${reasonOf(error)}.`,
      `Run doctor with the ${setting} of the server. If they are equal, restart the server and read its log.`,
    );
  }
}

async function checkFree(port: Port): Promise<Finding> {
  const { check, setting, address } = port;
  if (address.port === 0) return chosenLater(port);
  const reason = await whyNotFree(address);
  return reason === null
    ? ok(check, `${hostAndPort(address)} is free.`)
    : notFree(check, setting, address, reason);
}

function chosenLater({ check, setting }: Port): Finding {
  return ok(check, `${setting} lets the system choose the port, so it cannot be checked.`);
}

/** Checks that the API answers or its address is free. A process may run without it (`serve --only hosting`). */
export async function checkApiPort(config: Config, serverRuns: boolean): Promise<Finding> {
  const check = 'API';
  const address = config.listen;
  if (address.port === 0)
    return chosenLater({ check, setting: 'HOMEPORT_LISTEN', address, ask: async () => {} });
  const reason = await whyNotFree(address);
  if (reason === 'EADDRINUSE') return checkApiAnswers(check, config);
  if (reason !== null) return notFree(check, 'HOMEPORT_LISTEN', address, reason);
  return serverRuns
    ? warning(
        check,
        `A server runs, but none listens on ${hostAndPort(address)}.`,
        'This is normal with "serve --only hosting". Otherwise run doctor with the HOMEPORT_LISTEN of the server.',
      )
    : ok(check, `${hostAndPort(address)} is free.`);
}

async function checkApiAnswers(check: string, config: Config): Promise<Finding> {
  const where = hostAndPort(config.listen);
  try {
    const { status, fingerprint } = await askApi(config.listen);
    if (status === 503) {
      return problem(check, `Answers on ${where}, but its database does not.`, 'Fix the database first.');
    }
    if (status !== 200 && status !== 429) throw new Error(`it answered with status ${status}`);
    if (fingerprint === fingerprintOfFile(config)) return ok(check, `Answers on ${where}.`);
    return warning(
      check,
      `Answers on ${where}, but with a certificate that differs from the file.`,
      'This Homeport loads a new file within a day, or at a restart. If another program listens there, choose another address in HOMEPORT_LISTEN.',
    );
  } catch (error) {
    return problem(
      check,
      `Something that is not this Homeport uses ${where}: ${reasonOf(error)}.`,
      'Stop it, or choose another address in HOMEPORT_LISTEN.',
    );
  }
}

function fingerprintOfFile({ tlsCert, dataDir }: Config): string | undefined {
  try {
    return new X509Certificate(readFileSync(tlsCert ?? ownCertificateFile(dataDir))).fingerprint256;
  } catch {
    // Another check reports problems of the file.
    return undefined;
  }
}

function notFree(check: string, setting: string, address: ListenAddress, reason: string): Finding {
  const where = hostAndPort(address);
  switch (reason) {
    case 'EADDRINUSE':
      return problem(
        check,
        `Another program uses ${where}.`,
        `Stop it, or choose another address in ${setting}.`,
      );
    case 'EACCES':
      return problem(
        check,
        `This user may not listen on ${where}.`,
        `Choose a port from 1024 on in ${setting}, and forward to it.`,
      );
    case 'EADDRNOTAVAIL':
      return problem(
        check,
        `This machine does not have the address ${where}.`,
        `Choose an address of this machine in ${setting}.`,
      );
    default:
      return problem(
        check,
        `${where} cannot be listened on: ${reason}.`,
        `Choose another address in ${setting}.`,
      );
  }
}
