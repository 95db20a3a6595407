import { expect, test } from 'vitest';
import { CommandError } from '../../../lib/run-command.ts';
import { missingPackages, requireEdgePackages } from './packages.ts';

/** Answers like dpkg-query(1), which fails if it does not know a package. */
const answering = (stdout: string) => async () => {
  throw new CommandError('no packages found', { status: 1, stdout, stderr: '' });
};

test('a machine without the packages of the edge is told to run set-up', async () => {
  const upgraded = answering('installed nginx\nconfig-files lua-cjson\n');
  await expect(requireEdgePackages(upgraded)).rejects.toMatchObject({
    name: 'OperatorError',
    message: expect.stringMatching(/libnginx-mod-http-lua, lua-cjson\. Run "homeport host setup"/),
  });
  expect(await missingPackages(upgraded)).toEqual(
    expect.arrayContaining(['libnginx-mod-http-lua', 'lua-cjson', 'libnginx-mod-http-brotli-filter']),
  );
});

test('other missing packages do not keep the host from starting', async () => {
  await requireEdgePackages(
    answering('installed nginx\ninstalled libnginx-mod-http-lua\ninstalled lua-cjson\n'),
  );
});
