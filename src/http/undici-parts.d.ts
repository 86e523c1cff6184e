// The parts of undici that the daemon needs. Its index also loads fetch, WebSocket, caches and mocks, which take 10 MB.

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';

  export = Agent;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  function request(this: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  export = request;
}

declare module 'undici/lib/global.js' {
  export { getGlobalDispatcher } from 'undici';
}
