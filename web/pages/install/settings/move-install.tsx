import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { type Site, useSites } from '../../../api/sites.ts';
import { Button } from '../../../components/button.tsx';
import { ChoiceField } from '../../../components/choice-field.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { EnvironmentField } from '../../../components/environment-field.tsx';
import { environmentOf } from '../../../components/environments.ts';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { sortRows } from '../../../components/sort-rows.ts';
import { showSuccess } from '../../../components/toast.tsx';

/** Moves an install to another site or environment. */
export function MoveInstall({ install }: { install: Install }) {
  const [open, setOpen] = useState(false);
  return (
    <Section title="Move" actions={<Button onClick={() => setOpen(true)}>Move to another site</Button>}>
      <p>
        An install is one environment of a site. Moving it does not affect the website: it keeps its name,
        files and domains.
      </p>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Move ${install.name}`}
        description="A site has at most one install for each environment."
      >
        <MoveChoice install={install} onMoved={() => setOpen(false)} />
      </Dialog>
    </Section>
  );
}

function MoveChoice({ install, onMoved }: { install: Install; onMoved(): void }) {
  const sites = useSites(install.account.id);
  return (
    <Loaded query={sites} what="sites">
      {(found) => <MoveForm install={install} sites={found} onMoved={onMoved} />}
    </Loaded>
  );
}

function MoveForm({ install, sites, onMoved }: { install: Install; sites: Site[]; onMoved(): void }) {
  const queries = useQueryClient();
  const [siteId, setSiteId] = useState(install.site?.id ?? '');
  const chosen = sites.find(({ id }) => id === siteId);
  // The install's own environment counts as free.
  const others = chosen && { installs: chosen.installs.filter(({ id }) => id !== install.id) };

  async function move(values: FormData) {
    const environment = environmentOf(textOf(values, 'environment'));
    await unwrap(
      hosting.PATCH('/installs/{install_id}', {
        params: { path: { install_id: install.id } },
        body: { site_id: siteId === '' ? null : siteId, environment },
      }),
    );
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['install', install.id] }),
      queries.invalidateQueries({ queryKey: ['site'] }),
    ]);
    showSuccess(`Moved ${install.name}.`);
    onMoved();
  }

  return (
    <Form submitLabel="Move" onSubmit={move}>
      <ChoiceField
        label="Site"
        name="site_id"
        value={siteId}
        onChange={setSiteId}
        options={[
          { value: '', label: 'No site' },
          ...sortRows(sites, ({ name }) => name, 'ascending').map(({ id, name }) => ({
            value: id,
            label: name,
          })),
        ]}
      />
      <EnvironmentField
        key={siteId}
        site={others}
        preferred={chosen && install.environment !== null ? install.environment : undefined}
      />
    </Form>
  );
}
