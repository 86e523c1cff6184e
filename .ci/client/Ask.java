package ask;

import org.openapitools.client.ApiClient;
import org.openapitools.client.api.FleetApi;
import org.openapitools.client.api.FleetApi.APIGetFleetRequest;

public class Ask {
  public static void main(String[] arguments) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    var fleet = new FleetApi(client).getFleet(APIGetFleetRequest.newBuilder().limit(1).build());
    System.out.println(fleet.getTotal() + " mailboxes, " + fleet.getMailboxes().get(0).getEmail());
  }
}
