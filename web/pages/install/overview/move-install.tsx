import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { answered } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { useSites } from '../../../api/sites.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { SelectField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { say } from '../../../components/toast.tsx';

const ENVIRONMENTS = ['production', 'staging', 'development'] as const;

/** Gives an install to another site, or to another environment of its own. */
export function MoveInstall({ install }: { install: Install }) {
  const [open, setOpen] = useState(false);
  return (
    <Section title="Move" actions={<Button onClick={() => setOpen(true)}>Move to another site</Button>}>
      <p>
        An install fills one environment of a site. Moving it changes nothing of the website itself: its name,
        files and domains stay.
      </p>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Move ${install.name}`}
        description="A site has at most one install for each environment."
      >
        <MoveForm install={install} onMoved={() => setOpen(false)} />
      </Dialog>
    </Section>
  );
}

function MoveForm({ install, onMoved }: { install: Install; onMoved(): void }) {
  const queries = useQueryClient();
  const sites = useSites(install.account.id);

  async function move(values: FormData) {
    const siteId = textOf(values, 'site_id');
    const environment = ENVIRONMENTS.find((known) => known === textOf(values, 'environment')) ?? null;
    await answered(
      hosting.PATCH('/installs/{install_id}', {
        params: { path: { install_id: install.id } },
        body: { site_id: siteId === '' ? null : siteId, environment },
      }),
    );
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['install', install.id] }),
      queries.invalidateQueries({ queryKey: ['site'] }),
    ]);
    say(`${install.name} is moved.`);
    onMoved();
  }

  return (
    <Loaded query={sites} what="sites">
      {(found) => (
        <Form submitLabel="Move" onSubmit={move}>
          <SelectField
            label="Site"
            name="site_id"
            defaultValue={install.site?.id ?? ''}
            options={[
              { value: '', label: 'No site' },
              ...found.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
          <SelectField
            label="Environment"
            name="environment"
            defaultValue={install.environment ?? ''}
            options={[
              { value: '', label: 'None' },
              ...ENVIRONMENTS.map((name) => ({ value: name, label: name })),
            ]}
          />
        </Form>
      )}
    </Loaded>
  );
}
