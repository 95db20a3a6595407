import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import type { Site } from '../../api/sites.ts';
import { CheckboxField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { Section } from '../../components/page.tsx';
import { showSuccess } from '../../components/toast.tsx';

/** Marks a site as a sandbox or as transferable. */
export function SiteTypeSection({ site }: { site: Site }) {
  const queries = useQueryClient();
  return (
    <Section title="Type">
      <Form
        key={`${site.sandbox} ${site.transferable}`}
        submitLabel="Save type"
        onSubmit={async (values) => {
          await unwrap(
            hosting.PATCH('/sites/{site_id}', {
              params: { path: { site_id: site.id } },
              body: { sandbox: values.has('sandbox'), transferable: values.has('transferable') },
            }),
          );
          await queries.invalidateQueries({ queryKey: ['site'] });
          showSuccess('Saved the type of the site.');
        }}
      >
        <CheckboxField
          label="Sandbox"
          name="sandbox"
          hint="For experiments. It cannot be transferred to another account."
          defaultChecked={site.sandbox}
        />
        <CheckboxField
          label="Transferable"
          name="transferable"
          hint="Built to be handed over. Usage figures count it separately."
          defaultChecked={site.transferable}
        />
      </Form>
    </Section>
  );
}
