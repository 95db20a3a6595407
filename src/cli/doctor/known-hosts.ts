import type { Database } from '../../database/database.ts';
import { allHosts } from '../../features/hosts/store.ts';
import { shownTime } from '../terminal/output.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Lists the machines that run websites, as a running server saw them last. */
export async function checkKnownHosts({ reader }: Pick<Database, 'reader'>): Promise<Finding[]> {
  const hosts = await allHosts(reader);
  if (hosts.length === 0) {
    return [
      warning(
        'hosts',
        'No host is known yet, so installs cannot be created.',
        'Start "homeport host" on this machine, as root, and the server; or add a machine with "homeport host add".',
      ),
    ];
  }
  return hosts.map(({ name, reason, seen_at, accepting, lost_at }) => {
    const check = `host ${name}`;
    const seen = `seen ${shownTime(seen_at, 'never')}`;
    if (lost_at !== null) {
      return problem(
        check,
        `It was given up as lost (${shownTime(lost_at, '')})${seen_at !== null && seen_at > lost_at ? `. It answers (${seen}), and serves nothing` : ''}.`,
        `"homeport host rebuild ${name}" makes its installs again on others, "homeport host found ${name}" takes it back with what it has, and "homeport host remove ${name}" removes it once no install is on it.`,
      );
    }
    if (reason !== null)
      return problem(check, `${reason} (${seen})`, 'Its websites cannot be changed until it answers.');
    return ok(check, accepting ? `Answers, ${seen}.` : `Answers, ${seen}; it takes no new installs.`);
  });
}
