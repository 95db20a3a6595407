import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { readSite, type Site } from '../../api/sites.ts';
import { CheckboxField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { Section } from '../../components/page.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useDraft } from '../../components/use-draft.ts';

/** Marks a site as a sandbox or as transferable. */
export function SiteTypeSection({ site }: { site: Site }) {
  const queries = useQueryClient();
  const draft = useDraft({
    resource: site,
    fieldsOf: ({ sandbox, transferable }) => ({ sandbox, transferable }),
    read: () => readSite(site.id),
    async save(body, header) {
      await unwrap(
        hosting.PATCH('/sites/{site_id}', { params: { path: { site_id: site.id }, header }, body }),
      );
      await queries.invalidateQueries({ queryKey: ['site'] });
      showSuccess('Saved the type of the site.');
    },
  });
  return (
    <Section title="Type">
      <Form draft={draft} submitLabel="Save type">
        <CheckboxField
          label="Sandbox"
          hint="For experiments. It cannot be transferred to another account."
          {...draft.box('sandbox')}
        />
        <CheckboxField
          label="Transferable"
          hint="Built to be handed over. Usage figures count it separately."
          {...draft.box('transferable')}
        />
      </Form>
    </Section>
  );
}
