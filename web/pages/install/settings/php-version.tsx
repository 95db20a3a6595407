import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { SelectField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { Section } from '../../../components/page.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { useDraft } from '../../../components/use-draft.ts';
import { useOfferedPhp } from './use-offered-php.ts';

/** Switches the PHP version of an install, if its host offers several. The operation shows the progress. */
export function PhpVersion({ install }: { install: Install }) {
  const queries = useQueryClient();
  const params = { path: { install_id: install.id } };
  const offered = useOfferedPhp(install.id);
  const draft = useDraft({
    resource: install,
    fieldsOf: ({ php_version }) => ({ php_version: php_version ?? '' }),
    read: () => hosting.GET('/installs/{install_id}', { params }),
    appliesLater: true,
    async save({ php_version = '' }, header) {
      const operationId = await unwrapStarted(
        hosting.PATCH('/installs/{install_id}', { params: { ...params, header }, body: { php_version } }),
      );
      await queries.invalidateQueries({ queryKey: ['operation', install.id] });
      showOperation(operationId, {
        busy: `Switching to PHP ${php_version}.`,
        done: `The website runs PHP ${php_version}.`,
      });
    },
  });
  const current = install.php_version;
  const versions = offered.data?.versions ?? [];
  if (!versions.some((version) => version !== current)) return null;
  // The host may no longer offer the current version.
  const shown = current === null || versions.includes(current) ? versions : [current, ...versions];

  return (
    <Section title="PHP">
      <p>
        The website is checked before and after the switch. If the website gets worse, it returns to its
        current version.
      </p>
      <Form draft={draft} submitLabel="Switch PHP">
        <SelectField
          label="PHP version"
          options={shown.map((version) => ({
            value: version,
            label: version === current ? `${version} (current)` : version,
          }))}
          {...draft.field('php_version')}
        />
      </Form>
    </Section>
  );
}
