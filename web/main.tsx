import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { createQueries } from './api/queries.ts';
import { App } from './app.tsx';
import { ErrorBoundary } from './components/error-boundary.tsx';
import { keepFocus } from './components/kept-focus.ts';
import { LeaveConfirmation } from './components/leave-confirmation.tsx';
import { navigateGuarded } from './components/navigation-guard.ts';
import { Toasts } from './components/toast.tsx';
import { keepSentFrame } from './first/sent-frame.tsx';
import './theme.css';

keepFocus();
const place = document.getElementById('portal');
if (!place) throw new Error('index.html has no element with the id "portal"');
keepSentFrame(place);

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={createQueries()}>
      <Router base={new URL(document.baseURI).pathname.replace(/\/$/, '')} aroundNav={navigateGuarded}>
        <ErrorBoundary>
          <App />
        </ErrorBoundary>
        <LeaveConfirmation />
        <Toasts />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
