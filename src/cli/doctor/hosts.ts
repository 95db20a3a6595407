import type { Difference, InstallRef } from '../../hosting/host.ts';
import { connectHost } from '../../hosting/remote/client.ts';
import type { Platform } from '../../platform.ts';
import type { HostView } from '../../resources/hosts/service.ts';
import type { Services } from '../../services.ts';
import { type Finding, ok, problem, reasonOf } from './finding.ts';

/** Compares every machine that runs websites with what should be on it; with `repair` they mend what they can. */
export async function examineHosts(
  platform: Platform,
  services: Services,
  repair: boolean,
): Promise<Finding[]> {
  const hosts = await services.hosts.list();
  if (hosts.length === 0) {
    return [
      problem(
        'hosts',
        'There is no host.',
        'One on this machine shows up when "homeport serve" meets it; "homeport host add" adds one on another.',
      ),
    ];
  }
  const findings: Finding[] = [];
  for (const host of hosts) findings.push(...(await examineHost(platform, services, host, repair)));
  return findings;
}

async function examineHost(
  { database }: Platform,
  { hosts }: Services,
  { id, name }: HostView,
  repair: boolean,
): Promise<Finding[]> {
  const expected: InstallRef[] = await database.reader
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('host_id', '=', id)
    .where('status', '!=', 'failed')
    .execute();
  const remote = connectHost(await hosts.target(name));
  try {
    const differences = await remote.inspect(expected, repair);
    if (differences.length > 0) return differences.map((difference) => findingOf(name, difference));
    const count = expected.length === 1 ? '1 install' : `${expected.length} installs`;
    return [ok(name, `All is as it should be, ${count}.`)];
  } catch (error) {
    return [
      problem(name, `It could not be inspected: ${reasonOf(error)}.`, 'See that "homeport host" runs there.'),
    ];
  } finally {
    await remote.close();
  }
}

function findingOf(host: string, { thing, message, mended, remedy }: Difference): Finding {
  const check = `${host}: ${thing}`;
  if (mended === true) return ok(check, `${message} It was mended.`);
  return { check, state: 'problem', message, remedy };
}
