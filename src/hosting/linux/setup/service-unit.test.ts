import { expect, test } from 'vitest';
import { hostServiceUnit } from './service-unit.ts';

test('the unit runs the host with its settings, whatever the folder is called', () => {
  const unit = hostServiceUnit({
    node: '/srv/our "homes"/node',
    program: '/srv/100%/$HOME/homeport.mjs',
    settings: '/etc/homeport/host.conf',
  });
  expect(unit).toContain(
    'ExecStart="/srv/our \\"homes\\"/node" "/srv/100%%/$$HOME/homeport.mjs" "--config" "/etc/homeport/host.conf" "host"\n',
  );
  expect(unit).toContain('Restart=always\n');
});
