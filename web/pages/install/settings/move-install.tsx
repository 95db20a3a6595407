import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Install } from '../../../api/installs.ts';
import { useSite } from '../../../api/sites.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { EnvironmentField } from '../../../components/environment-field.tsx';
import { environmentOf } from '../../../components/environments.ts';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { type SiteChoice, SiteField, useFirstSites } from '../../../components/site-field.tsx';
import { moveWithUndo, placeOf } from '../../site/move-with-undo.ts';

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
  const sites = useFirstSites(install.account.id, '');
  return (
    <Loaded query={sites} what="sites">
      {() => <WithSite install={install} onMoved={onMoved} />}
    </Loaded>
  );
}

/** Loads the site of the install, which may not be among the first sites. */
function WithSite({ install, onMoved }: { install: Install; onMoved(): void }) {
  const site = useSite(install.site?.id);
  if (install.site === null) return <MoveForm install={install} from={null} onMoved={onMoved} />;
  return (
    <Loaded query={site} what="the site">
      {(from) => <MoveForm install={install} from={from} onMoved={onMoved} />}
    </Loaded>
  );
}

function MoveForm({
  install,
  from,
  onMoved,
}: {
  install: Install;
  from: SiteChoice | null;
  onMoved(): void;
}) {
  const queries = useQueryClient();
  const [site, setSite] = useState(from);
  const [seen] = useState(() => placeOf(install));
  // The install's own environment counts as free.
  const others = site && { installs: site.installs.filter(({ id }) => id !== install.id) };

  async function move(values: FormData) {
    const environment = environmentOf(textOf(values, 'environment'));
    const place = { site_id: site?.id ?? null, environment };
    await moveWithUndo(queries, install.id, place, (name) => `Moved ${name}.`, seen);
    onMoved();
  }

  return (
    <Form submitLabel="Move" onSubmit={move}>
      <SiteField accountId={install.account.id} chosen={site} onChange={setSite} />
      <EnvironmentField
        key={site?.id ?? ''}
        site={others ?? undefined}
        preferred={site && install.environment !== null ? install.environment : undefined}
      />
    </Form>
  );
}
