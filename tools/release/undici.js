// The part of undici that src uses, for the bundle.
import request from 'undici/lib/api/api-request.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

// undici's index.js gives the dispatcher its methods.
Object.assign(Dispatcher.prototype, { request });

export { default as buildConnector } from 'undici/lib/core/connect.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
