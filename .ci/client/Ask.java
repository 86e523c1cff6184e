package ask;

import org.openapitools.client.ApiClient;
import org.openapitools.client.api.FleetApi;

public class Ask {
  public static void main(String[] arguments) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    var fleet = new FleetApi(client).getFleet(null, null, null, 1, null);
    System.out.println(fleet.getTotal() + " mailboxes, " + fleet.getMailboxes().get(0).getEmail());
  }
}
