import { expect, it } from 'vitest';
import { type QuotaState, quotaKind } from './project-quotas.ts';
import { quotaAdvice } from './quota-advice.ts';

const MOUNTS = [
  '25 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
  '30 25 254:16 / /srv rw,relatime shared:2 - ext4 /dev/vdb rw',
  '31 25 254:32 / /srv/web\\040sites rw,relatime - xfs /dev/vdc rw,attr2',
  '32 25 0:40 / /data rw - btrfs /dev/vdd rw',
].join('\n');
const DEBIAN = 'CONFIG_QUOTA=y\nCONFIG_QFMT_V2=m\nCONFIG_XFS_QUOTA=y\n';

it('names the command for the file system that the folder is on', () => {
  expect(quotaAdvice(MOUNTS, DEBIAN, '/srv/homeport')).toBe(
    'end everything that uses /srv, and run "umount /srv && tune2fs -O project,quota -Q prjquota /dev/vdb && mount /srv"',
  );
  expect(quotaAdvice(MOUNTS, DEBIAN, '/srv/web sites')).toContain(
    'prjquota to the options of /srv/web sites in',
  );
  expect(quotaAdvice(MOUNTS, DEBIAN, '/var/lib/homeport-host')).toContain(
    'prjquota /dev/vda1" from a rescue',
  );
  // Its name only begins like another's.
  expect(quotaAdvice(MOUNTS, DEBIAN, '/srv2')).toContain('/dev/vda1');
  expect(quotaAdvice(MOUNTS, DEBIAN, '/data/websites')).toBeNull();
});

it('does not advise what the kernel could not mount afterwards', () => {
  const small = 'CONFIG_QUOTA=y\n# CONFIG_QFMT_V2 is not set\n# CONFIG_XFS_QUOTA is not set\n';
  expect(quotaAdvice(MOUNTS, small, '/srv/homeport')).toBeNull();
  expect(quotaAdvice(MOUNTS, small, '/srv/web sites')).toBeNull();
  expect(quotaAdvice(MOUNTS, null, '/srv/homeport')).toContain('if the kernel has CONFIG_QFMT_V2');
});

it('one limit is enough for quotas', async () => {
  const kinds = (state: QuotaState) =>
    Promise.all(
      [
        { bytes: null, files: 9 },
        { bytes: 9, files: null },
        { bytes: null, files: null },
      ].map(async (limits) => {
        return (await quotaKind({ state: async () => state, advice: async () => null }, limits)).kind;
      }),
    );
  expect(await kinds('off')).toEqual(['measured', 'measured', 'none']);
  expect(await kinds('counted')).toEqual(['measured', 'measured', 'none']);
  expect(await kinds('enforced')).toEqual(['project', 'project', 'none']);
});
