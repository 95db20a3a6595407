import { useQuery, useQueryClient } from '@tanstack/react-query';
import { hosting, portal } from '../../../api/client.ts';
import { unwrap, unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { SelectField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Section } from '../../../components/page.tsx';
import { showOperation } from '../../../components/toast.tsx';

/** Switches the PHP version of an install, if its host offers several. The operation shows the progress. */
export function PhpVersion({ install }: { install: Install }) {
  const queries = useQueryClient();
  const params = { path: { install_id: install.id } };
  const offered = useQuery({
    queryKey: ['install', install.id, 'php'],
    queryFn: () => unwrap(portal.GET('/portal/api/installs/{install_id}/php_versions', { params })),
  });
  const versions = offered.data?.versions ?? [];
  if (!versions.some((version) => version !== install.php_version)) return null;

  async function change(version: string) {
    const operationId = await unwrapStarted(
      hosting.PATCH('/installs/{install_id}', { params, body: { php_version: version } }),
    );
    await queries.invalidateQueries({ queryKey: ['operation', install.id] });
    showOperation(operationId, {
      busy: `Switching to PHP ${version}.`,
      done: `The website runs PHP ${version}.`,
    });
  }

  return (
    <Section title="PHP">
      <p>
        The website is checked before and after the switch. If the website gets worse, it returns to its
        current version.
      </p>
      <Form
        key={install.php_version}
        submitLabel="Switch PHP"
        onSubmit={(values) => change(textOf(values, 'php_version'))}
      >
        <SelectField
          label="PHP version"
          name="php_version"
          defaultValue={install.php_version ?? ''}
          options={versions.map((version) => ({
            value: version,
            label: version === install.php_version ? `${version} (current)` : version,
          }))}
        />
      </Form>
    </Section>
  );
}
